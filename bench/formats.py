"""Documents of every format: words recovered against a reference extraction, documents per second beside peers, and the
processor and memory of the worker processes.

The documents are those of ``bench/_documents.py``: real ones of Debian's packages, and ones that LibreOffice makes. Recovered
are the words of the reference that are also ours, counted as often as they occur. The target is 98 % of each format.

Needs ``soffice`` (libreoffice-writer, -calc, -impress), ``pdftotext`` (poppler-utils), ``pandoc``, ``odt2txt``, ``man``,
``mshow`` (mblaze) and ``apt-get``; what is missing is left out, with a line that says so. Peers are measured if they are
installed.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tests.worker import Worker

from bench import Measurement, seconds
from bench._documents import content, documents, plain, say, words
from crivello.convert import read
from crivello.convert.members import convert_file, type_of
from crivello.settings import Crawl

_ASKED = 0.98
_PROCESSES = 2


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory(prefix="formats-") as name:
        found = documents(Path(name))
        for kind, pairs in found.items():
            recovered = wanted = 0
            for path, reference in pairs:
                ours, theirs = Counter(words(_ours(path))), Counter(words(reference))
                recovered += sum((ours & theirs).values())
                wanted += sum(theirs.values())
            what = f"{kind}: words recovered, {len(pairs)} documents"
            yield Measurement(what, 100 * recovered / wanted, "reference", 100.0, "%", _ASKED)
        for kind, pairs in found.items():
            yield from _speed(kind, [path for path, _ in pairs])
        yield from _workers([path for pairs in found.values() for path, _ in pairs])


def _ours(path: Path) -> str:
    name, body = content(path)
    found = convert_file(name, body, f"http://a.example/{name}")
    if found.failure:
        say(f"{path.name}: {found.failure}")
    return f"{found.title} {plain(found.body)}"


# --- worker processes ---------------------------------------------------------------------------------------


def _workers(paths: list[Path]) -> Iterator[Measurement]:
    """All documents through worker processes with the default limits, beside this process alone."""
    bodies = [(type_of(name), body) for name, body in map(content, paths)]

    def here() -> None:
        for media_type, body in bodies:
            read(body, "", media_type, "utf-8")

    alone = len(bodies) / seconds(here, 1)
    peaks = []

    def there(share: list[tuple[str, bytes]]) -> None:
        with Worker() as worker:
            for media_type, body in share:
                worker.ask(media_type, body)
            status = Path(f"/proc/{worker.process.pid}/status").read_text()
            peaks.append(int(status.partition("VmHWM:")[2].split()[0]) / 1024)

    def pool() -> None:
        with ThreadPoolExecutor(_PROCESSES) as threads:
            list(threads.map(there, [bodies[n::_PROCESSES] for n in range(_PROCESSES)]))

    together = len(bodies) / seconds(pool, 1)
    what = f"all {len(bodies)} documents, {_PROCESSES} worker processes"
    yield Measurement(what, together, "this process alone", alone, "documents/s")
    limit = Crawl().convert_memory / 2**20
    yield Measurement(
        "peak memory of a worker", max(peaks), "its limit", limit, "MiB", smaller_is_better=True
    )


# --- speed --------------------------------------------------------------------------------------------------


def _speed(kind: str, paths: list[Path]) -> Iterator[Measurement]:
    bodies = [content(path) for path in paths]

    def ours() -> None:
        for name, body in bodies:
            convert_file(name, body, "")

    mine = len(paths) / seconds(ours, 3)
    for peer, convert in _peers(kind).items():
        try:
            theirs = len(paths) / seconds(partial(_all, convert, paths), 1)
        except Exception as error:
            say(f"{peer} failed on {kind}: {type(error).__name__}")
            continue
        yield Measurement(f"{kind}: documents per second", mine, peer, theirs, "documents/s")


def _all(convert: Callable[[Path], object], paths: list[Path]) -> None:
    for path in paths:
        convert(path)


def _peers(kind: str) -> dict[str, Callable[[Path], object]]:
    found: dict[str, Callable[[Path], object]] = {}

    def have(name: str) -> Any:
        try:
            return importlib.import_module(name)
        except ImportError:
            return None

    if kind in ("pdf", "docx", "odt", "pptx", "xlsx", "ods", "rtf", "epub") and (
        kreuzberg := have("kreuzberg")
    ):
        found["kreuzberg"] = lambda path: kreuzberg.extract_file_sync(str(path))
    if kind == "pdf" and (pdf_oxide := have("pdf_oxide")):
        found["pdf_oxide"] = lambda path: _pdf_oxide(pdf_oxide, path)
    if kind == "pdf" and (pypdf := have("pypdf")):
        found["pypdf"] = lambda path: [page.extract_text() for page in pypdf.PdfReader(path).pages]
    if kind == "docx" and (docx2txt := have("docx2txt")):
        found["docx2txt"] = lambda path: docx2txt.process(str(path))
    if kind == "docx" and (python_docx := have("docx")):
        found["python-docx"] = lambda path: [p.text for p in python_docx.Document(str(path)).paragraphs]
    if kind == "pptx" and (pptx := have("pptx")):
        found["python-pptx"] = lambda path: [
            s.name for slide in pptx.Presentation(str(path)).slides for s in slide.shapes
        ]
    if kind == "xlsx" and (openpyxl := have("openpyxl")):
        found["openpyxl"] = lambda path: [
            list(sheet.values) for sheet in openpyxl.load_workbook(path, read_only=True).worksheets
        ]
    if kind in ("docx", "xlsx", "pptx", "pdf", "epub") and (markitdown := have("markitdown")):
        converter = markitdown.MarkItDown()
        found["markitdown"] = lambda path: converter.convert(str(path))
    if kind == "rtf" and (striprtf := have("striprtf.striprtf")):
        found["striprtf"] = lambda path: striprtf.rtf_to_text(path.read_text("latin-1"))
    if kind == "tex" and (pylatexenc := have("pylatexenc.latex2text")):
        found["pylatexenc"] = lambda path: pylatexenc.LatexNodes2Text().latex_to_text(
            path.read_text("utf-8", "replace")
        )
    if kind == "pdf" and shutil.which("pdftotext"):
        found["pdftotext"] = lambda path: subprocess.run(
            ["pdftotext", path, "-"], capture_output=True, check=True
        )
    return found


def _pdf_oxide(module: Any, path: Path) -> list[str]:
    document = module.PdfDocument(str(path))
    return [document.extract_text(page) for page in range(document.page_count())]
