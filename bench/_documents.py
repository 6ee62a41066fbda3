"""Documents to convert, each with another program's extraction of its text.

Real ones come from Debian's packages, and LibreOffice makes others from texts of invented words: DOCX, ODT, RTF and PDF
from headings, paragraphs, lists, tables, notes and links; PPTX and ODP from slides; XLSX and ODS from a table.
The reference is what another program shows: pdftotext, LibreOffice's own export, odt2txt, pandoc, man, mshow (mblaze). Labels
that a layout makes (the numbers of lists and headings), formulas and markers of the program itself are taken out of it.
What a program is missing for is left out, with a line that says so.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Documents = dict[str, list[tuple[Path, str]]]

# Packages with documents that are small to fetch.
PACKAGES = (
    "calligrawords-data",  # odt
    "debian-history",  # epub
    "debian-reference-it",  # pdf
    "debmake-doc",  # epub, pdf
    "developers-reference",  # epub, pdf
    "finalcif",  # docx
    "git-man",  # man
    "golang-github-gatherstars-com-jwz-dev",  # eml
    "graphviz-doc",  # pdf
    "gworkspace-common",  # rtf
    "kannel-docs",  # rtf
    "libdigidoc-doc",  # docx, pdf
    "libmapsforge-java-doc",  # odp
    "libreoffice-dmaths",  # odt, ods
    "libreoffice-help-ca",  # ods
    "live-manual-odf",  # odt
    "maint-guide",  # pdf
    "manpages-de",  # man
    "manpages-dev",  # man
    "r-cran-officer",  # docx, pptx
    "r-cran-openxlsx",  # xlsx
    "r-cran-readxl",  # xlsx
    "sc3-plugins-language",  # rtf
    "snmptt",  # epub
    "texlive-latex-base-doc",  # tex, pdf
    "xlsx2csv",  # xlsx
)
_MOST = 25
_SHORTEST = 20
_LARGEST = 4 * 2**20
_TIMEOUT = 300
_WORD = re.compile(r"[^\W_]+")
_LABEL = re.compile(r"^[ \t]*(?:(?:\(?(?:\d+|[a-z]|[ivxlc]+)[.)])+|\d+(?:\.\d+)+)(?=\s)", re.MULTILINE)
_FORMULA = re.compile(r'<span class="math.*?</span>', re.DOTALL)

_UNSHOWN = re.compile(r"<(svg:title|svg:desc|text:page-number|office:binary-data)\b.*?</\1>", re.DOTALL)


def words(text: str) -> list[str]:
    """The words of a text, without case."""
    return _WORD.findall(text.casefold())


def plain(markup: str) -> str:
    """The text of HTML or XML; inline elements do not separate words."""
    text = re.sub(
        r"</?(?:text:)?(?:a|b|i|em|strong|code|span|u|s|sub|sup|small|tt|big|font)\b[^>]*>", "", markup
    )
    return html.unescape(re.sub(r"<[^>]*>", " ", text))


def content(path: Path) -> tuple[str, bytes]:
    """The name and the bytes of a document, which packages may have compressed."""
    body = path.read_bytes()
    return (path.stem, gzip.decompress(body)) if path.suffix == ".gz" else (path.name, body)


def documents(folder: Path) -> Documents:
    """All documents by their kind, with their references."""
    found: Documents = {}
    for kind, pairs in (*_made(folder), *_packaged(folder)):
        found.setdefault(kind, []).extend(pairs)
    return found


def say(line: str) -> None:
    """A remark, beside the measurements."""
    print(line, file=sys.stderr)


# --- documents from Debian's packages -----------------------------------------------------------------------


def _packaged(folder: Path) -> Iterator[tuple[str, list[tuple[Path, str]]]]:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        say("apt-get is not installed: no documents of packages are measured")
        return
    debs, root = folder / "debs", folder / "root"
    debs.mkdir()
    for package in PACKAGES:
        got = subprocess.run(["apt-get", "download", package], cwd=debs, capture_output=True, check=False)
        if got.returncode:
            say(f"there is no package {package}")
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
    yield from packaged(root, folder)


def packaged(root: Path, folder: Path) -> Iterator[tuple[str, list[tuple[Path, str]]]]:
    """The documents below a folder; of each kind a sample, without copies."""
    for kind, (program, reference) in REFERENCES.items():
        if not shutil.which(program):
            say(f"{program} is not installed: no {kind} of packages is measured")
            continue
        copies = folder / "copies" / kind
        copies.mkdir(parents=True)
        paths: list[Path] = []
        for path in _sample(root, kind):
            name, body = content(path)
            paths.append(copies / f"{len(paths):03}-{name}")
            paths[-1].write_bytes(body)
        pairs = [(path, said) for path, said in reference(paths) if len(words(said)) >= _SHORTEST]
        if pairs:
            yield kind, pairs


def _sample(root: Path, kind: str) -> list[Path]:
    patterns = [f"*.[1-8]{end}" if kind == "man" else f"*.{kind}{end}" for end in ("", ".gz")]
    seen: dict[bytes, Path] = {}
    for path in sorted(path for pattern in patterns for path in root.rglob(pattern)):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < _LARGEST:
            seen.setdefault(hashlib.sha256(path.read_bytes()).digest(), path)
    paths = list(seen.values())
    return random.Random(1).sample(paths, min(len(paths), _MOST))


# --- the extractions of other programs ----------------------------------------------------------------------

Reference = Callable[[list[Path]], Iterator[tuple[Path, str]]]


def _said(arguments: list[Any], **more: Any) -> str:
    done: subprocess.CompletedProcess[bytes] = subprocess.run(
        arguments, capture_output=True, check=False, timeout=_TIMEOUT, **more
    )
    return done.stdout.decode("utf-8", "replace")


def _each(extract: Callable[[Path], str]) -> Reference:
    return lambda paths: ((path, extract(path)) for path in paths)


def _pandoc(path: Path, kind: str) -> str:
    """Formulas are left out; LaTeX inputs files by their names, and the working folder has none."""
    shown = _said(["pandoc", "-f", kind, "-t", "html", "--mathjax", path], cwd=path.parent)
    return plain(_FORMULA.sub(" ", shown))


def _man(path: Path) -> str:
    if re.search(rb"^\.so ", path.read_bytes(), re.MULTILINE):
        # Its text is that of another page.
        return ""
    text = _said(
        ["man", "--nh", "--nj", "-l", path],
        env={"MANWIDTH": "3000", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    # The first and the last line are made of the title.
    return "\n".join(re.sub(r".\x08", "", text).strip().splitlines()[1:-1])


def _mail(path: Path) -> str:
    text = _said(["mshow", "-n", "-N", "-h", "subject", path]).removeprefix("Subject:")
    return plain(text) if "<html" in text.lower() else text


def office(paths: list[Path], to: str) -> Iterator[tuple[Path, list[Path]]]:
    """What LibreOffice makes of documents: one file, or one for each sheet."""
    folder = paths[0].parent / "office" if paths else Path()
    profile = f"-env:UserInstallation=file://{folder}/profile"
    arguments = ["soffice", profile, "--headless", "--convert-to", to, "--outdir", str(folder / "out")]
    for start in range(0, len(paths), 10):
        try:
            subprocess.run(
                [*arguments, *paths[start : start + 10]], capture_output=True, timeout=_TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            say(f"LibreOffice took too long for {paths[start].name} and the nine after it")
    ending = to.partition(":")[0]
    for path in paths:
        yield path, sorted(path for path in (folder / "out").glob(f"{path.stem}*.{ending}"))


def _text(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    for path, made in office(paths, "txt:Text (encoded):UTF8"):
        yield path, "\n".join(_LABEL.sub("", one.read_text("utf-8", "replace")) for one in made)


def _sheets(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    every_sheet = "csv:Text - txt - csv (StarCalc):9,34,76,1,,0,false,true,false,false,false,-1"
    for path, made in office(paths, every_sheet):
        yield path, "\n".join(one.read_text("utf-8", "replace") for one in made)


def _slides(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    for path, made in office(paths, "fodp"):
        yield path, " ".join(slides(one) for one in made)


def slides(path: Path) -> str:
    """The text of slides in flat XML, without what is not shown: names of shapes, fields to fill in."""
    return plain(_UNSHOWN.sub(" ", path.read_text("utf-8").partition("<office:body>")[2]))


REFERENCES: dict[str, tuple[str, Reference]] = {
    "docx": ("soffice", _text),
    "odt": ("soffice", _text),
    "rtf": ("soffice", _text),
    "pptx": ("soffice", _slides),
    "odp": ("soffice", _slides),
    "xlsx": ("soffice", _sheets),
    # LibreOffice computes sheets again, with other last digits.
    "ods": ("odt2txt", _each(lambda path: _said(["odt2txt", "--width=-1", path]))),
    "pdf": ("pdftotext", _each(lambda path: _said(["pdftotext", "-enc", "UTF-8", path, "-"]))),
    "epub": ("pandoc", _each(lambda path: _LABEL.sub("", _pandoc(path, "epub")))),
    "tex": ("pandoc", _each(lambda path: _pandoc(path, "latex"))),
    "md": ("pandoc", _each(lambda path: _pandoc(path, "gfm"))),
    "man": ("man", _each(_man)),
    "eml": ("mshow", _each(_mail)),
}


# --- documents made with LibreOffice ------------------------------------------------------------------------


def _made(folder: Path) -> Iterator[tuple[str, list[tuple[Path, str]]]]:
    if not shutil.which("soffice"):
        say("soffice is not installed: no office documents are measured")
        return
    for source, kinds, export in (
        (_text_source(folder), ("docx", "odt", "rtf", "pdf"), _text),
        (_slides_source(folder), ("pptx", "odp"), None),
        (_table_source(folder), ("xlsx", "ods"), _sheets),
    ):
        reference = next(export([source]))[1] if export else slides(source)
        for kind in kinds:
            for _, made in office([source], kind):
                yield kind, [(path, reference) for path in made]


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
