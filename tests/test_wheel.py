"""The wheel as a stranger installs it: a clean environment, no Rust, no extras. Needs ``CRIVELLO_TEST_WHEEL=dist/….whl``."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

WHEEL = os.environ.get("CRIVELLO_TEST_WHEEL", "")
MOST_BYTES = 15 * 2**20

pytestmark = pytest.mark.skipif(
    not WHEEL, reason="CRIVELLO_TEST_WHEEL names no wheel; `make wheel` builds one"
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("clean") / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", Path(WHEEL).resolve()], check=True)
    return folder


def run(program: Path | str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program without the compiler, the sources, and the variables of this process."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR", "SSL_CERT_FILE") if name in os.environ}
    kept["PATH"] = "/usr/bin:/bin"
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=200, env=kept, cwd="/", check=False
    )


def test_the_wheel_has_the_package_once_and_is_small() -> None:
    with zipfile.ZipFile(WHEEL) as packed:
        names = packed.namelist()
    assert sum(name.endswith(".so") for name in names) == 1
    for wanted in (
        "crivello/py.typed",
        "crivello/web/templates/results.html",
        "crivello/web/static/style.css",
    ):
        assert wanted in names
    assert not [name for name in names if name.startswith(("tests/", "bench/")) or "__pycache__" in name]
    assert Path(WHEEL).stat().st_size < MOST_BYTES


def test_a_bare_import_needs_the_standard_library_alone(environment: Path) -> None:
    program = (
        "import sys; before = set(sys.modules); import crivello; "
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))"
    )
    done = run(environment / "bin" / "python", "-c", program)
    assert (done.stdout, done.stderr) == ("crivello\n", "")


def test_the_demo_runs_without_extras(environment: Path) -> None:
    start = time.monotonic()
    done = run(environment / "bin" / "crivello", "demo", "--once")
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert "3. indexed " in done.stderr and "4. ranked " in done.stderr
    files = [file for file in environment.rglob("*") if file.is_file() and not file.is_symlink()]
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    print(
        f"demo: {time.monotonic() - start:.1f} s; wheel: {Path(WHEEL).stat().st_size / 1e6:.1f} MB; "
        f"environment: {megabytes:.0f} MB",
        file=sys.__stdout__,
    )


def test_what_is_missing_is_said_with_its_extra(environment: Path, tmp_path: Path) -> None:
    done = run(environment / "bin" / "crivello", "lab", "queues", "--plot", str(tmp_path / "a.png"))
    assert done.returncode == 3 and "pip install 'crivello[plots]'" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_uvx_runs_it_from_the_file() -> None:
    uvx = Path(sys.executable).parent / "uvx"
    if not uvx.exists():
        pytest.skip("uv is not installed: pip install uv")
    done = run(uvx, "--from", str(Path(WHEEL).resolve()), "crivello", "demo", "--once")
    assert done.returncode == 0 and "3. indexed " in done.stderr, done.stderr
