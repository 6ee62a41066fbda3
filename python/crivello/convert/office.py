"""Office Open XML: DOCX, PPTX, XLSX (ECMA-376)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from crivello.convert import Converted, Markup, Unreadable
from crivello.convert.package import Package, metadata, parse

_FIELD = re.compile(r'\s*HYPERLINK\s+"([^"]+)"')
# The built-in number formats of spreadsheets that are dates, times of day, and durations.
_FORMATS = (
    dict.fromkeys((14, 15, 16, 17, 22), "date")
    | dict.fromkeys((18, 19, 20, 21, 45, 47), "time")
    | {46: "duration"}
)
_FORMAT = re.compile(r'(?:"[^"]*"|\\.|_.)|\[([hms])+\]|\[[^\]]*\]|([dy])|([hs])', re.IGNORECASE)
_LAST_DAY = 2_958_465


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """A text, a presentation or a spreadsheet."""
    del url, charset
    package = Package(body)
    markup = Markup()
    language = ""
    if "wordprocessingml" in media_type:
        language = _text(package, markup)
    elif "presentationml" in media_type:
        _presentation(package, markup)
    else:
        _workbook(package, markup)
    about = metadata(package.pieces("docProps/core.xml"))
    date = about.get("modified") or about.get("created", "")
    return Converted(about.get("title", ""), str(markup), about.get("language", language), date)


# --- texts --------------------------------------------------------------------------------------------------


def _main_part(package: Package, usual: str) -> str:
    if usual in package.names:
        return usual
    folder, _, name = usual.partition("/")
    for part in package.relations("").values():
        if part.startswith(folder) and part.endswith(".xml"):
            return part
    raise Unreadable(f"it is damaged (there is no {name})")


def _text(package: Package, markup: Markup) -> str:
    """Writes the paragraphs; returns the language."""
    headings, language = _styles(package)
    document = _main_part(package, "word/document.xml")
    for part in (document, "word/footnotes.xml", "word/endnotes.xml"):
        _Paragraphs(markup, package.relations(part), headings).read(package, part)
    return language


def _styles(package: Package) -> tuple[dict[str, int], str]:
    """The level of each style that is a heading, and the default language."""
    levels: dict[str, int] = {}
    parents: dict[str, str] = {}
    style = language = ""

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal style, language
        value = attributes.get("val", "")
        if tag == "style":
            style = attributes.get("styleId", "")
        elif tag == "name" and value.lower().startswith("heading ") and value[8:].isdigit():
            levels[style] = int(value[8:])
        elif tag == "name" and value.lower() == "title":
            levels[style] = 1
        elif tag == "outlineLvl" and value.isdigit() and int(value) < 9:
            levels.setdefault(style, int(value) + 1)
        elif tag == "basedOn":
            parents[style] = value
        elif tag == "lang" and not language:
            language = value

    parse(package.pieces("word/styles.xml"), start)
    for child, parent in parents.items():
        if parent in levels:
            levels.setdefault(child, levels[parent])
    return levels, language


class _Paragraphs:
    """The paragraphs of a part of a text, and the cells of its tables, as lines."""

    def __init__(self, markup: Markup, relations: dict[str, str], headings: dict[str, int]) -> None:
        self._markup, self._relations, self._headings = markup, relations, headings
        self._level = self._skipped = 0
        self._is_text = self._is_field = False
        self._url = self._field = ""
        self._anchor: list[str] = []

    def read(self, package: Package, part: str) -> None:
        parse(package.pieces(part), self._start, self._end, self._characters)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._skipped or tag in ("Fallback", "del", "moveFrom"):
            self._skipped += 1
        elif tag == "t":
            self._is_text = True
        elif tag == "p":
            self._end_line()
        elif tag == "pStyle":
            self._level = self._headings.get(attributes.get("val", ""), 0)
        elif tag == "outlineLvl" and attributes.get("val", "").isdigit() and int(attributes["val"]) < 9:
            self._level = int(attributes["val"]) + 1
        elif tag in ("tab", "br", "cr", "sym"):
            # The character of a symbol is a place in its font, usually a picture.
            self._put(" ")
        elif tag == "noBreakHyphen":
            self._put("-")
        elif tag == "hyperlink":
            self._end_link()
            self._url = self._relations.get(attributes.get("id", ""), "")
        elif tag == "instrText":
            self._is_field = True
        elif tag == "fldChar":
            if attributes.get("fldCharType") == "separate" and (found := _FIELD.match(self._field)):
                self._end_link()
                self._url = found[1]
            elif attributes.get("fldCharType") == "end":
                self._end_link()
            if attributes.get("fldCharType") != "separate":
                self._field = ""

    def _end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag == "t":
            self._is_text = False
        elif tag == "instrText":
            self._is_field = False
        elif tag == "hyperlink":
            self._end_link()
        elif tag == "p":
            self._end_line()

    def _characters(self, text: str) -> None:
        if self._skipped:
            return
        if self._is_text:
            self._put(text)
        elif self._is_field:
            self._field += text

    def _put(self, text: str) -> None:
        if self._url:
            self._anchor.append(text)
        else:
            self._markup.text(text)

    def _end_link(self) -> None:
        if self._url:
            self._markup.link(self._url, "".join(self._anchor))
        self._anchor.clear()
        self._url = ""

    def _end_line(self) -> None:
        url = self._url
        self._end_link()
        self._markup.line(min(self._level, 6))
        self._url, self._level = url, 0


# --- presentations ------------------------------------------------------------------------------------------


def _presentation(package: Package, markup: Markup) -> None:
    main = _main_part(package, "ppt/presentation.xml")
    relations = package.relations(main)
    slides: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "sldId":
            slides.append(relations.get(attributes.get("id", ""), ""))

    parse(package.pieces(main), start)
    for slide in slides:
        links = package.relations(slide)
        _slide(package, slide, links, markup)
        for part in links.values():
            if "/notesSlides/" in part or "/diagrams/data" in part:
                _slide(package, part, package.relations(part), markup)


def _slide(package: Package, part: str, links: dict[str, str], markup: Markup) -> None:
    is_text = is_title = False
    url = ""

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal is_text, is_title, url
        if tag == "t":
            is_text = True
        elif tag == "sp":
            is_title = False
        elif tag == "ph":
            is_title = attributes.get("type") in ("title", "ctrTitle")
        elif tag == "hlinkClick":
            url = links.get(attributes.get("id", ""), "")
        elif tag == "r":
            url = ""
        elif tag in ("br", "tab"):
            markup.text(" ")

    def end(tag: str) -> None:
        nonlocal is_text
        if tag == "t":
            is_text = False
        elif tag == "p":
            markup.line(2 if is_title else 0)

    def text(characters: str) -> None:
        if is_text and "://" in url:
            markup.link(url, characters)
        elif is_text:
            markup.text(characters)

    parse(package.pieces(part), start, end, text)


# --- spreadsheets -------------------------------------------------------------------------------------------


def _workbook(package: Package, markup: Markup) -> None:
    main = _main_part(package, "xl/workbook.xml")
    relations = package.relations(main)
    sheets: list[tuple[str, str]] = []
    first_day = datetime(1899, 12, 30)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal first_day
        if tag == "sheet":
            sheets.append((attributes.get("name", ""), relations.get(attributes.get("id", ""), "")))
        elif tag == "workbookPr" and attributes.get("date1904") in ("1", "true"):
            first_day = datetime(1904, 1, 1)

    parse(package.pieces(main), start)
    cells = _Cells(_strings(package), _styles_of_cells(package), first_day)
    for name, part in sheets:
        markup.heading(name)
        _sheet(package, part, cells, markup)


class _Cells(NamedTuple):
    """What cells refer to."""

    strings: list[str]
    styles: dict[str, str]
    first_day: datetime

    def shown(self, value: str, kind: str, style: str) -> str:
        """What a cell shows: its string, its date, or its number."""
        if kind == "s":
            return self.strings[int(value)] if value.isdigit() and int(value) < len(self.strings) else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind not in ("", "n"):
            return value
        try:
            number = float(value)
        except ValueError:
            return value
        style = self.styles.get(style, "") if 0 <= number <= _LAST_DAY else ""
        seconds = round(number * 86_400) if style else 0
        if style == "date":
            moment = self.first_day + timedelta(seconds=seconds)
            return moment.isoformat(" ").removesuffix(" 00:00:00")
        if style:
            hours, seconds = divmod(seconds, 3600)
            return f"{hours % 24 if style == 'time' else hours:02}:{seconds // 60:02}:{seconds % 60:02}"
        return f"{number:.15g}"


def _strings(package: Package) -> list[str]:
    """The strings that cells refer to by number."""
    strings: list[str] = []
    pieces: list[str] = []
    is_text = is_phonetic = False

    def start(tag: str, _: dict[str, str]) -> None:
        nonlocal is_text, is_phonetic
        is_text = tag == "t" and not is_phonetic
        is_phonetic = is_phonetic or tag == "rPh"

    def end(tag: str) -> None:
        nonlocal is_text, is_phonetic
        is_text = False
        if tag == "rPh":
            is_phonetic = False
        elif tag == "si":
            strings.append("".join(pieces))
            pieces.clear()

    parse(
        package.pieces("xl/sharedStrings.xml"),
        start,
        end,
        lambda characters: pieces.append(characters) if is_text else None,
    )
    return strings


def _styles_of_cells(package: Package) -> dict[str, str]:
    """What a number is, by the number of the style of its cell: a date, a time or a duration."""
    formats = dict(_FORMATS)
    styles: dict[str, str] = {}
    inside = False
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal inside, count
        if tag == "numFmt" and (kind := _kind_of_format(attributes.get("formatCode", ""))):
            formats[int(attributes.get("numFmtId", 0))] = kind
        elif tag == "cellXfs":
            inside = True
        elif tag == "xf" and inside:
            if kind := formats.get(int(attributes.get("numFmtId", 0)), ""):
                styles[str(count)] = kind
            count += 1

    def end(tag: str) -> None:
        nonlocal inside
        inside = inside and tag != "cellXfs"

    parse(package.pieces("xl/styles.xml"), start, end)
    return styles


def _kind_of_format(code: str) -> str:
    # The parts of a format are for positive numbers, negative ones, zero, and text.
    found = _FORMAT.findall(code.partition(";")[0])
    for place, kind in enumerate(("duration", "date", "time")):
        if any(groups[place] for groups in found):
            return kind
    return ""


def _sheet(package: Package, part: str, cells: _Cells, markup: Markup) -> None:
    relations = package.relations(part)
    rows: list[list[tuple[str, str]]] = []
    links: dict[str, str] = {}
    value: list[str] = []
    cell = kind = style = ""
    is_value = False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal cell, kind, style, is_value
        if tag == "row":
            rows.append([])
        elif tag == "c":
            cell, kind, style = (attributes.get(key, "") for key in ("r", "t", "s"))
            value.clear()
        elif tag in ("v", "t"):
            is_value = True
        elif tag == "hyperlink" and (url := relations.get(attributes.get("id", ""), "")):
            links[attributes.get("ref", "").partition(":")[0]] = url

    def end(tag: str) -> None:
        nonlocal is_value
        if tag in ("v", "t"):
            is_value = False
        elif tag == "c" and value and rows:
            rows[-1].append((cell, cells.shown("".join(value), kind, style)))

    parse(package.pieces(part), start, end, lambda characters: value.append(characters) if is_value else None)
    for row in rows:
        for place, shown in row:
            if place in links:
                markup.link(links[place], shown)
            else:
                markup.text(shown)
            markup.text(" ")
        markup.line()
