"""What a bare installation can do, and what it says where a package of an extra is missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from crivello._extras import EXTRAS, MissingPackage, optional
from crivello.cli.output import print_table
from crivello.convert import read
from crivello.evaluate import evaluate
from crivello.plots import check_format
from crivello.search.results import Results
from crivello.sieve import open_sieve

ROOT = Path(__file__).parents[1]
EXTRA_PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def hide(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Lets imports of a package fail as if it were not installed, also in modules that imported it already."""
    for name in list(sys.modules):
        if name == package or name.startswith(f"{package}."):
            monkeypatch.delitem(sys.modules, name)
    for name in ("crivello.sieve.lsm",):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("matplotlib", lambda folder: check_format(folder / "plot.png")),
        ("duckdb", lambda _: Results("lens", 0, 0, ()).to_polars()),
        ("rocksdict", lambda folder: open_sieve("lsm", folder)),
        ("ir_measures", lambda _: evaluate({}, {})),
    ],
)
def test_a_missing_package_is_one_sentence_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, call: Callable[[Path], Any]
) -> None:
    hide(monkeypatch, package)
    with pytest.raises(MissingPackage, match="is not installed; it is needed for") as caught:
        call(tmp_path)
    assert caught.value.hint == f"pip install 'crivello[{EXTRAS[package].name}]'"


def test_a_document_says_which_package_would_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "pypdfium2")
    found = read(b"%PDF-1.7", media_type="application/pdf")
    assert found.failure == (
        "the package pypdfium2 is not installed; it is needed for PDF documents: pip install 'crivello[pdf]'"
    )


def test_another_missing_module_is_not_explained_away() -> None:
    with pytest.raises(ModuleNotFoundError), optional():
        import_module("no_such_package")


def test_the_extras_are_those_of_the_package() -> None:
    named = {extra.name: package for package, extra in EXTRAS.items()}
    for name, package in named.items():
        assert [requirement.split(">")[0].replace("-", "_") for requirement in EXTRA_PACKAGES[name]] == [
            package
        ]
    every = [requirement for name in named if name != "cluster" for requirement in EXTRA_PACKAGES[name]]
    assert sorted(EXTRA_PACKAGES["all"]) == sorted(every)


def test_a_bare_installation_crawls_indexes_ranks_and_searches(tmp_path: Path) -> None:
    program = f"""
import sys
for package in {list(EXTRAS)}:
    sys.modules[package] = None
import crivello
from crivello.lab.web import SampleWeb
with SampleWeb(hosts=3, pages_per_host=6, slow=0) as web, crivello.create(sys.argv[1], crawl={{"delay": 0}}) as made:
    made.crawl(web.seeds[:1], progress=False)
    made.index(progress=False)
    made.rank(progress=False)
    assert made.search("the").hits
    status = made.status()
    assert status.busiest and status.busiest[0].pages
    made.export(sys.argv[2])
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "c", tmp_path / "c.jsonl"],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_table_prints_the_name_of_an_extra(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("", [("pip install 'crivello[pdf]'", "1")])
    assert "'crivello[pdf]'" in capsys.readouterr().err
