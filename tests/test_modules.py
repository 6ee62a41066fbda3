"""The module graph of the core: no cycles, and every edge explained in its README."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from docs import modules

ROOT = Path(__file__).parent.parent


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "docs.modules", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def crate(folder: Path, readme: str, **files: str) -> Path:
    """A crate of these modules, whose names have ``__`` in place of a slash."""
    for name, code in files.items():
        path = folder / "src" / f"{name.replace('__', '/')}.rs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    (folder / "README.md").write_text(readme)
    return folder


def test_the_core_has_no_cycle_and_its_readme_explains_every_edge() -> None:
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    assert "search/rank -> search/matching, search/score" in done.stdout.splitlines()


def test_a_cycle_is_found(tmp_path: Path) -> None:
    readme = "- `a` → `b`: why\n- `b` → `a`: why not\n"
    done = run(crate(tmp_path, readme, a="use crate::b::{C, D};", b="fn f() { super::a::g() }"))
    assert done.returncode == 1
    assert done.stderr.strip() in ("a cycle: a -> b -> a", "a cycle: b -> a -> b")


def test_a_cycle_between_rooms_is_found(tmp_path: Path) -> None:
    files = {
        "lib": "pub mod index; pub use index::read::Segment;",
        "index__mod": "pub mod build; pub mod read; pub use build::Options;",
        "index__build": "use crate::Segment;",
        "index__read": "use super::Options;",
    }
    found = modules.edges(crate(tmp_path, "", **files))
    assert found == {("index/build", "index/read"), ("index/read", "index/build")}
    assert modules.cycle(found)


def test_only_product_code_counts(tmp_path: Path) -> None:
    files = {
        "a": '// crate::b\nconst TEXT: &str = "crate::c";\n#[cfg(test)]\nmod tests { use crate::d; }\nuse crate::e;',
        "b__tests": "use crate::a;",
        "c__mod": "#[cfg(test)]\nuse crate::a::F;\n",
    }
    assert modules.edges(crate(tmp_path, "", **files)) == {("a", "e")}


def test_a_readme_that_is_not_true_is_refused(tmp_path: Path) -> None:
    done = run(crate(tmp_path, "- `a` → `c`: once\n", a="use crate::b;", b="", c=""))
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["not in README.md: a -> b", "only in README.md: a -> c"]
