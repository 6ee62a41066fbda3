"""RTF (Rich Text Format 1.9), by a scanner that keeps what is shown.

Groups nest and inherit; what an application should skip is in groups that begin with ``\\*`` or with a
known destination such as ``\\fonttbl``. Characters are bytes in a code page, or ``\\u`` numbers followed by a
replacement that is skipped.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crivello.convert import Converted, Markup, Unreadable

_TOKEN = re.compile(
    rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)", re.DOTALL
)
_FIELD = re.compile(r'\s*HYPERLINK\s+"?([^"\s]+)"?')

_SKIPPED = frozenset(
    b"fonttbl colortbl stylesheet listtable listoverridetable revtbl rsidtbl generator pict object themedata "
    b"colorschememapping latentstyles datastore xmlnstbl filetbl pntext bkmkstart bkmkend nonshppict header "
    b"footer headerl headerr headerf footerl footerr footerf panose falt mmathPr objdata shpinst atnid atnauthor".split()
)
_SPACES = {b"tab", b"cell", b"nestcell", b"emspace", b"enspace", b"qmspace", b"line", b"lbr"}
_LINES = {b"par", b"row", b"nestrow", b"sect", b"page", b"column"}
_SIGNS = {
    b"emdash": "—",
    b"endash": "–",
    b"bullet": "•",
    b"lquote": "‘",
    b"rquote": "’",
    b"ldblquote": "“",
    b"rdblquote": "”",
}
_SYMBOLS = {b"~": "\xa0", b"_": "-", b"-": "", b"\\": "\\", b"{": "{", b"}": "}"}
_PAGES = {b"ansi": "cp1252", b"mac": "mac-roman", b"pc": "cp437", b"pca": "cp850"}
_CHARSETS = {
    77: "mac-roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip


class _Group(NamedTuple):
    """What ends with a group."""

    goes_to: str  # text, skip, title, field, fonts
    replaced: int
    codepage: str
    url: str


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The text, with its links and headings."""
    del url, media_type, charset
    if not body.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("it is not RTF")
    return _Reader().read(body)


class _Reader:
    def __init__(self) -> None:
        self._markup = Markup()
        self._group = _Group("text", 1, "cp1252", "")
        self._outer: list[_Group] = []
        self._pending = bytearray()
        self._to_skip = self._level = 0
        self._title: list[str] = []
        self._field = self._link = ""
        self._anchor: list[str] = []
        self._date: dict[bytes, int] = {}
        self._in_date = False
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._default_page = "cp1252"
        self._styles: dict[int, int] = {}
        self._high = 0

    def read(self, body: bytes) -> Converted:
        fresh = False
        for match in _TOKEN.finditer(body):
            word, number, code, symbol, brace, text = match.groups()
            if code is not None:
                if self._to_skip:
                    self._to_skip -= 1
                else:
                    self._pending.append(int(code, 16))
                fresh = False
                continue
            if text is not None:
                skipped = min(self._to_skip, len(text))
                self._to_skip -= skipped
                self._pending += text[skipped:]
                fresh = False
                continue
            self._flush()
            if brace == b"{":
                self._outer.append(self._group)
                fresh = True
                continue
            if brace == b"}":
                self._close()
            elif symbol is not None:
                if symbol == b"*" and fresh:
                    self._group = self._group._replace(goes_to="ignorable")
                    continue
                self._symbol(symbol)
            elif word is not None:
                self._word(word, None if number is None else int(number), fresh)
            fresh = False
        self._flush()
        self._end_line()
        return Converted("".join(self._title).strip(), str(self._markup), date=self._written())

    def _written(self) -> str:
        parts = [self._date.get(name, 0) for name in (b"yr", b"mo", b"dy")]
        return "{:04}-{:02}-{:02}".format(*parts) if all(parts) else ""

    def _flush(self) -> None:
        if self._pending:
            data, self._pending = bytes(self._pending), bytearray()
            self._put(data.decode(self._group.codepage, errors="replace"))

    def _put(self, text: str) -> None:
        goes_to = self._group.goes_to
        if goes_to == "title":
            self._title.append(text)
        elif goes_to == "field":
            self._field += text
        elif goes_to == "text" and self._link:
            self._anchor.append(text)
        elif goes_to == "text":
            self._markup.text(text)

    def _close(self) -> None:
        if self._group.goes_to == "field" and (found := _FIELD.match(self._field)):
            self._link = found[1]
        ended = self._group
        if self._outer:
            self._group = self._outer.pop()
        if ended.url == "result" and self._group.url != "result":
            self._end_link()
        self._in_date = False
        self._to_skip = 0

    def _symbol(self, symbol: bytes) -> None:
        if symbol in (b"\r", b"\n"):
            self._end_line()
        elif self._to_skip:
            self._to_skip -= 1
        else:
            self._put(_SYMBOLS.get(symbol, ""))

    def _word(self, word: bytes, number: int | None, fresh: bool) -> None:
        group = self._group
        if word == b"bin":
            return
        if word == b"u" and number is not None:
            self._unicode(number % 65536)
        elif word == b"uc":
            self._group = group._replace(replaced=number or 0)
        elif word in _PAGES:
            self._default_page = _PAGES[word]
            self._group = group._replace(codepage=self._default_page)
        elif word == b"ansicpg" and number:
            self._default_page = _codec(number)
            self._group = group._replace(codepage=self._default_page)
        elif word == b"fonttbl":
            self._group = group._replace(goes_to="fonts")
        elif word == b"f" and number is not None:
            self._font = number
            self._group = group._replace(codepage=self._fonts.get(number, self._default_page))
        elif word == b"fcharset" and number in _CHARSETS and group.goes_to == "fonts":
            self._fonts[self._font] = _CHARSETS[number]
        elif word == b"info":
            self._group = group._replace(goes_to="skip")
        elif word == b"title" and group.goes_to == "skip":
            self._group = group._replace(goes_to="title")
        elif word in (b"creatim", b"revtim"):
            self._in_date = True
        elif word in (b"yr", b"mo", b"dy") and self._in_date:
            self._date[word] = number or 0
        elif word == b"fldinst":
            self._field = ""
            self._group = group._replace(goes_to="field")
        elif word == b"fldrslt":
            self._group = group._replace(goes_to="text", url="result")
        elif word in (b"footnote", b"annotation"):
            self._put(" ")
        elif (word in _SKIPPED and fresh) or group.goes_to == "ignorable":
            self._group = group._replace(goes_to="skip")
        elif group.goes_to in ("text", "field"):
            self._shown(word, number)

    def _shown(self, word: bytes, number: int | None) -> None:
        if word in _LINES:
            self._end_line()
        elif word in _SPACES:
            self._put(" ")
        elif word in _SIGNS:
            self._put(_SIGNS[word])
        elif word == b"outlinelevel" and number is not None and number < 9:
            self._level = min(number + 1, 6)
        elif word == b"pard":
            self._level = 0

    def _unicode(self, number: int) -> None:
        if 0xD800 <= number < 0xDC00:
            self._high = number
        elif 0xDC00 <= number < 0xE000 and self._high:
            self._put(chr(0x10000 + ((self._high - 0xD800) << 10) + (number - 0xDC00)))
            self._high = 0
        else:
            self._put(chr(number))
        self._to_skip = self._group.replaced

    def _end_link(self) -> None:
        anchor = "".join(self._anchor)
        if "://" in self._link:
            self._markup.link(self._link, anchor)
        else:
            self._markup.text(anchor)
        self._anchor.clear()
        self._link = ""

    def _end_line(self) -> None:
        if self._group.goes_to == "text":
            if self._anchor:
                self._end_link()
            self._markup.line(self._level)


def _codec(number: int) -> str:
    name = {65001: "utf-8", 10000: "mac-roman"}.get(number, f"cp{number}")
    try:
        b"".decode(name)
    except LookupError:
        return "cp1252"
    return name
