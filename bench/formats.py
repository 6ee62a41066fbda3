"""Documents of every format: words recovered against a reference extraction, and documents per second beside a
peer.

Real documents come from Debian's packages (PDF, EPUB, manual pages, LaTeX source), and LibreOffice makes the others
from one text: DOCX, ODT, RTF, PDF from a text of headings, paragraphs, lists, tables, notes and links, PPTX and ODP from
slides, XLSX and ODS from a table. The reference is another program's extraction (pdftotext, LibreOffice's own text
export, man), or the source itself. Recovered are the words of the reference that are also ours, counted as often
as they occur. The target is 98 %.

Needs ``soffice`` (libreoffice-writer, -calc, -impress), ``pdftotext`` (poppler-utils), ``man`` and ``apt-get``; what is
missing is left out, with a line that says so. Peers are measured if they are installed.
"""

from __future__ import annotations

import gzip
import html
import importlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench import Measurement, seconds
from crivello.convert import read
from crivello.convert.members import type_of

_ASKED = 0.98
# Packages with documents that are small to fetch; their documents are taken in the order of their names.
_PACKAGES = (
    "debian-reference-it",
    "maint-guide",
    "developers-reference",
    "debian-handbook",
    "git-man",
    "texlive-latex-base-doc",
)
_MOST = 25
_TIMEOUT = 180
_WORD = re.compile(r"[^\W_]+")


def measure() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory(prefix="formats-") as name:
        folder = Path(name)
        documents: dict[str, list[tuple[Path, str]]] = {}
        for kind, found in (*_made(folder), *_packaged(folder)):
            documents.setdefault(kind, []).extend(found)
        for kind, pairs in documents.items():
            recovered, wanted = 0, 0
            for path, reference in pairs:
                ours, theirs = Counter(_words(_ours(path))), Counter(_words(reference))
                recovered += sum((ours & theirs).values())
                wanted += sum(theirs.values())
            if wanted:
                what = f"{kind}: words recovered, {len(pairs)} documents"
                yield Measurement(what, 100 * recovered / wanted, "reference", 100.0, "%", _ASKED)
        for kind, pairs in documents.items():
            yield from _speed(kind, [path for path, _ in pairs])


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _ours(path: Path) -> str:
    body = path.read_bytes()
    name = path.name.removesuffix(".gz")
    body = gzip.decompress(body) if name != path.name else body
    found = read(body, f"http://a.example/{name}", type_of(name), "utf-8")
    if found.failure:
        _say(f"{path.name}: {found.failure}")
    # Inline elements do not separate words.
    text = re.sub(r"</?(?:a|b|i|em|strong|code|span|u|s|sub|sup|small|tt|big|font)\b[^>]*>", "", found.body)
    return html.unescape(re.sub(r"<[^>]*>", " ", f"{found.title} {text}" if path.suffix == ".epub" else text))


def _say(line: str) -> None:
    print(line, file=sys.stderr)


# --- speed --------------------------------------------------------------------------------------------------


def _speed(kind: str, paths: list[Path]) -> Iterator[Measurement]:
    bodies = [(path.name, path.read_bytes()) for path in paths]

    def ours() -> None:
        for name, body in bodies:
            inner = name.removesuffix(".gz")
            read(gzip.decompress(body) if inner != name else body, "", type_of(inner), "utf-8")

    mine = len(paths) / seconds(ours, 3)
    for peer, convert in _peers(kind).items():
        try:
            theirs = len(paths) / seconds(partial(_all, convert, paths), 1)
        except Exception as error:
            _say(f"{peer} failed on {kind}: {type(error).__name__}")
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


# --- documents made with LibreOffice ------------------------------------------------------------------------


def _made(folder: Path) -> Iterator[tuple[str, list[tuple[Path, str]]]]:
    if not shutil.which("soffice"):
        _say("soffice is not installed: no office documents are measured")
        return
    for source, kinds, export in (
        (_text_source(folder), ("docx", "odt", "rtf", "pdf"), "txt:Text (encoded):UTF8"),
        (_slides_source(folder), ("pptx", "odp"), ""),
        (_table_source(folder), ("xlsx", "ods"), "csv:Text - txt - csv (StarCalc):9,34,76"),
    ):
        made = {kind: _convert(source, kind, folder) for kind in kinds}
        plain = _convert(source, export, folder) if export else None
        reference = (
            plain.read_text("utf-8") if plain else html.unescape(re.sub(r"<[^>]*>", " ", _body(source)))
        )
        for kind, path in made.items():
            if path:
                yield kind, [(path, reference)]


def _convert(source: Path, kind: str, folder: Path) -> Path | None:
    target = folder / "made"
    profile = f"-env:UserInstallation=file://{folder}/profile"
    arguments = ["soffice", profile, "--headless", "--convert-to", kind, "--outdir", str(target), str(source)]
    subprocess.run(arguments, capture_output=True, timeout=_TIMEOUT, check=False)
    made = target / f"{source.stem}.{kind.partition(':')[0]}"
    if not made.exists():
        _say(f"LibreOffice made no {kind} of {source.name}")
        return None
    return made


def _body(source: Path) -> str:
    return source.read_text("utf-8").partition("<office:body>")[2]


_SPACES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" '
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.3"'
)


def _flat(folder: Path, name: str, kind: str, body: str) -> Path:
    path = folder / name
    path.write_text(
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {_SPACES} '
        f'office:mimetype="application/vnd.oasis.opendocument.{kind}"><office:body>{body}</office:body></office:document>',
        "utf-8",
    )
    return path


def _sentences(seed: int) -> Iterator[str]:
    """Sentences of invented words, with accents, numbers and signs of many scripts."""
    chance = random.Random(seed)
    letters = "abcdefghilmnopqrstuvzàèéìòùäöüßçñ"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 11))) for _ in range(3000)]
    words += ["город", "λόγος", "1,234.5", "AT&amp;T", "naïve", "“quoted”", "e.g.", "co-operate"]
    while True:
        yield " ".join(chance.choices(words, k=chance.randint(6, 24))).capitalize() + "."


def _text_source(folder: Path) -> Path:
    said = _sentences(1)
    parts = []
    for number in range(40):
        parts.append(f'<text:h text:outline-level="{1 + number % 3}">{next(said)[:40]}</text:h>')
        parts += [f"<text:p>{next(said)} {next(said)}</text:p>" for _ in range(8)]
        parts.append(
            f'<text:p>{next(said)} <text:a xlink:href="https://a.example/{number}">{next(said)[:20]}</text:a></text:p>'
        )
        items = "".join(f"<text:list-item><text:p>{next(said)}</text:p></text:list-item>" for _ in range(3))
        parts.append(f"<text:list>{items}</text:list>")
        note = f'<text:note text:note-class="footnote"><text:note-citation>{number + 1}</text:note-citation><text:note-body>'
        parts.append(
            f"<text:p>{next(said)}{note}<text:p>{next(said)}</text:p></text:note-body></text:note></text:p>"
        )
        cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
        rows = "".join(
            f"<table:table-row>{cell.format(next(said))}{cell.format(next(said))}</table:table-row>"
            for _ in range(3)
        )
        parts.append(
            f'<table:table><table:table-column table:number-columns-repeated="2"/>{rows}</table:table>'
        )
    return _flat(folder, "text.fodt", "text", f"<office:text>{''.join(parts)}</office:text>")


def _slides_source(folder: Path) -> Path:
    said = _sentences(2)
    place = 'svg:x="1cm" svg:y="{}cm" svg:width="24cm" svg:height="{}cm"'
    frame = '<draw:frame presentation:class="{}" {}><draw:text-box>{}</draw:text-box></draw:frame>'
    slides = ""
    for number in range(60):
        title = frame.format("title", place.format(1, 3), f"<text:p>{next(said)[:50]}</text:p>")
        body = "".join(f"<text:p>{next(said)}</text:p>" for _ in range(6))
        slides += f'<draw:page draw:name="page{number}">{title}{frame.format("outline", place.format(5, 12), body)}</draw:page>'
    return _flat(
        folder, "slides.fodp", "presentation", f"<office:presentation>{slides}</office:presentation>"
    )


def _table_source(folder: Path) -> Path:
    said = _sentences(3)
    chance = random.Random(4)

    def cell(column: int) -> str:
        if column == 2:
            number = chance.randint(-9999, 9999)
            return f'<table:table-cell office:value-type="float" office:value="{number}"><text:p>{number}</text:p></table:table-cell>'
        return (
            f'<table:table-cell office:value-type="string"><text:p>{next(said)}</text:p></table:table-cell>'
        )

    rows = "".join(f"<table:table-row>{''.join(map(cell, range(5)))}</table:table-row>" for _ in range(1500))
    return _flat(
        folder,
        "table.fods",
        "spreadsheet",
        f'<office:spreadsheet><table:table table:name="One">{rows}</table:table></office:spreadsheet>',
    )


# --- documents from Debian's packages -----------------------------------------------------------------------


def _packaged(folder: Path) -> Iterator[tuple[str, list[tuple[Path, str]]]]:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        _say("apt-get is not installed: no documents of packages are measured")
        return
    debs, root = folder / "debs", folder / "root"
    debs.mkdir()
    for package in _PACKAGES:
        got = subprocess.run(["apt-get", "download", package], cwd=debs, capture_output=True, check=False)
        if got.returncode:
            _say(f"there is no package {package}")
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
    references: dict[str, Callable[[Path], str | None]] = {
        "pdf": _pdftotext,
        "epub": _unpacked,
        "man": _man,
        "tex": _detex,
    }
    for kind, reference in references.items():
        found = sorted(root.rglob("*.[1-9].gz") if kind == "man" else root.rglob(f"*.{kind}"))
        pairs = [(path, said) for path in found[:_MOST] if (said := reference(path))]
        if pairs:
            yield kind, pairs


def _said(arguments: list[Any], **more: Any) -> str | None:
    if not shutil.which(str(arguments[0])):
        return None
    done = subprocess.run(arguments, capture_output=True, check=False, timeout=_TIMEOUT, **more)
    return done.stdout.decode("utf-8", "replace") or None


def _pdftotext(path: Path) -> str | None:
    return _said(["pdftotext", "-enc", "UTF-8", path, "-"])


def _man(path: Path) -> str | None:
    text = _said(
        ["man", "--nh", "--nj", "-l", path],
        env={"MANWIDTH": "3000", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    # The first and the last line are made of the title.
    return "\n".join(re.sub(r".\x08", "", text).strip().splitlines()[1:-1]) if text else None


def _detex(path: Path) -> str | None:
    return _said(["detex", path])


def _unpacked(path: Path) -> str | None:
    """The text of all chapters of a book, tags removed."""
    import zipfile

    with zipfile.ZipFile(path) as book:
        spine = [
            name
            for name in book.namelist()
            if name.endswith((".xhtml", ".html")) and "toc" not in name and "nav" not in name
        ]
        pages = [book.read(name).decode("utf-8", "replace") for name in spine]
    bodies = [page.partition("<body")[2].partition(">")[2] for page in pages]
    return html.unescape(re.sub(r"<[^>]*>", " ", " ".join(bodies)))
