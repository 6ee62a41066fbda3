"""Pages of the Unix manual: roff with the macros ``man`` or ``mdoc``, as far as they concern words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crivello.convert import Converted, Markup

_ESCAPE = re.compile(
    r"""\\(?:
      f(?:\[[^\]]*\]|\(..|.)            # fonts
    | s(?:[-+]?\d\d?|\[[^\]]*\]|\([-+]?\d\d|[-+]?\(\d\d)  # sizes
    | [mMFgkYVn](?:\[[^\]]*\]|\(..|.)   # colours, registers
    | [hvwlLDHSbxZoXRN]'([^']*)'        # motions and drawings
    | \*(?:\[([^\]]*)\]|\((..)|(.))     # strings
    | \[([^\]]*)\] | \((..) | C'([^']*)'  # characters by name
    | (.|$)
    )""",
    re.VERBOSE,
)
_CHARACTERS = {
    "em": "—", "en": "–", "hy": "-", "bu": "•", "co": "©", "rg": "®", "tm": "™", "lq": "“", "rq": "”",
    "oq": "‘", "cq": "’", "aq": "'", "dq": '"', "Tm": "™", "R": "®", "lB": "[", "rB": "]", "mu": "×", "+-": "±",
    "->": "→", "<-": "←", "ha": "^", "ti": "~", "rs": "\\", "sl": "/", "or": "|", "ba": "|", "bv": "|", "at": "@",
    "sh": "#", "Do": "$", "ga": "`", "Cs": "¤", "Eu": "€", "de": "°", "<=": "≤", ">=": "≥", "!=": "≠", "if": "∞",
    "mc": "µ", "*a": "α", "*b": "β", "*p": "π", "ss": "ß", "ae": "æ", "o/": "ø", "oa": "å", "lh": "☜", "sq": "□",
    "lt": "<", "gt": ">", "Fo": "«", "Fc": "»", "ci": "○", "S": "", "html": "",
}  # fmt: skip
_ACCENTS = {"'": "\u0301", "`": "\u0300", ":": "\u0308", "^": "\u0302", "~": "\u0303", ",": "\u0327"}
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S(?:\\ |\S)*)')
_FONTS = frozenset(["B", "I", "R", "BI", "BR", "IB", "IR", "RB", "RI", "SM", "SB"])
_BREAKS = frozenset(
    [
        "PP",
        "P",
        "LP",
        "br",
        "sp",
        "HP",
        "IP",
        "TP",
        "RS",
        "RE",
        "TQ",
        "nf",
        "fi",
        "EX",
        "EE",
        "ce",
        "Pp",
        "Bl",
        "El",
        "Bd",
        "Ed",
        "Lp",
        "D1",
        "Dl",
        "SY",
        "YS",
        "YE",
    ]
)
_IGNORED = frozenset(
    [
        "ad",
        "na",
        "hy",
        "nh",
        "ns",
        "rs",
        "ne",
        "bp",
        "ie",
        "el",
        "if",
        "de",
        "am",
        "ig",
        "ds",
        "nr",
        "rr",
        "rn",
        "ft",
        "ps",
        "ll",
        "in",
        "ti",
        "ta",
        "so",
        "TS",
        "TE",
        "PS",
        "PE",
        "EQ",
        "EN",
        "UC",
        "AT",
        "DT",
        "PD",
        "IX",
        "rm",
        "als",
        "tr",
        "do",
        "fam",
        "cs",
        "ev",
        "mk",
        "rt",
        "sv",
        "pl",
        "po",
        "wh",
        "ch",
        "lf",
        "mso",
        "nop",
        "device",
        "Bk",
        "Ek",
        "Sm",
        "Dd",
        "Os",
        "ss",
        "evc",
        "lc",
        "hlm",
        "hla",
        "while",
        "return",
        "shift",
        "break",
        "continue",
        "fchar",
        "char",
        "color",
        "defcolor",
        "ec",
        "eo",
        "cc",
        "c2",
        "pc",
        "LINKSTYLE",
    ]
)
# Macros of mdoc whose arguments are words or further macros, and what they put around them.
_MARKS = {
    "Op": ("[", "]"), "Oo": ("[", ""), "Oc": ("]", ""), "Aq": ("<", ">"), "Bq": ("[", "]"), "Brq": ("{", "}"),
    "Dq": ("“", "”"), "Sq": ("‘", "’"), "Ql": ("‘", "’"), "Qq": ('"', '"'), "Pq": ("(", ")"), "Fn": ("", "()"),
    "Po": ("(", ""), "Pc": (")", ""), "Bo": ("[", ""), "Bc": ("]", ""), "Ao": ("<", ""), "Ac": (">", ""),
    "Do": ("“", ""), "Dc": ("”", ""), "So": ("‘", ""), "Sc": ("’", ""), "Qo": ('"', ""), "Qc": ('"', ""),
}  # fmt: skip
_WORDS = frozenset(
    [
        "Ad",
        "An",
        "Ar",
        "Cd",
        "Cm",
        "Dv",
        "Em",
        "Er",
        "Ev",
        "Fa",
        "Fd",
        "Fl",
        "Ft",
        "Ic",
        "Li",
        "Ms",
        "Mt",
        "No",
        "Nd",
        "Nm",
        "Ns",
        "Pa",
        "Sx",
        "Sy",
        "Tn",
        "Va",
        "Vt",
        "Xr",
        "Lk",
        "Ap",
        "Bx",
        "At",
        "Nx",
        "Fx",
        "Ox",
        "St",
        "Rv",
        "Ex",
        "It",
        "Sh",
        "Ss",
        "Tg",
        "Ux",
        "Xo",
        "Xc",
        "Pf",
        "Ta",
        "In",
        "Lb",
        "Es",
        "En",
        "Bsx",
        "Dx",
        "Bf",
        "Ef",
        "Rs",
        "Re",
        "D",
        "T",
        "A",
        "B",
        "C",
        "I",
        "J",
        "N",
        "O",
        "P",
        "Q",
        "R",
        "U",
        "V",
    ]
)


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The text of a page; its title is its name with its section."""
    del url, media_type
    return _Page().read(body.decode(charset or "utf-8", errors="replace"))


class _Page:
    def __init__(self) -> None:
        self._markup = Markup()
        self._title = self._date = self._name = self._url = ""
        self._strings: dict[str, str] = {}
        self._literal = False
        self._tag = False

    def read(self, text: str) -> Converted:
        lines = iter(text.replace("\\\n", "").splitlines())
        for line in lines:
            if line[:1] in (".", "'"):
                self._request(line, lines)
            elif line.strip():
                self._put(self._shown(line))
                if self._literal or self._tag:
                    self._markup.line()
                self._tag = False
            else:
                self._markup.line()
        return Converted(self._title, str(self._markup), date=self._date)

    def _request(self, line: str, lines: Iterator[str]) -> None:
        name, _, rest = line[1:].lstrip().partition(" ")
        name, tab, after = name.partition("\t")
        rest = after + rest if tab else rest
        if not name or name.startswith("\\") or name == ".":
            return
        if name in ("de", "ig", "am", "de1"):
            end = ((rest.split() if name == "ig" else rest.split()[1:]) or ["."])[0]
            for skipped in lines:
                if skipped.strip().lstrip(".'").strip() == end.lstrip(".") or skipped.strip() == "..":
                    break
            return
        if name in ("if", "ie", "el"):
            self._skip_condition(line, lines)
            return
        if name == "ds":
            key, _, value = rest.partition(" ")
            self._strings[key] = value.lstrip('"')
            return
        if name in ("TS", "EQ", "PS"):
            self._table(name, lines)
            return
        words = [
            self._shown(quoted.replace('""', '"') or plain)
            for quoted, plain in _ARGUMENT.findall(_uncommented(rest))
        ]
        self._macro(name, words)

    def _skip_condition(self, line: str, lines: Iterator[str]) -> None:
        """What a condition guards is set up for printers; only the branch for terminals would be text."""
        depth = line.count("\\{") - line.count("\\}")
        while depth > 0 and (more := next(lines, None)) is not None:
            depth += more.count("\\{") - more.count("\\}")

    def _table(self, name: str, lines: Iterator[str]) -> None:
        ends = {"TS": ".TE", "EQ": ".EN", "PS": ".PE"}[name]
        in_format = name == "TS"
        self._markup.line()
        for line in lines:
            if line.startswith(ends):
                break
            if in_format:
                in_format = not line.rstrip().endswith(".")
            elif name == "TS" and line.rstrip() == ".T&":
                in_format = True
            elif name == "TS" and line[:1] not in (".", "_", "="):
                self._markup.paragraph(self._shown(re.sub(r"[\t;|]|T[{}]", " ", line)))

    def _macro(self, name: str, words: list[str]) -> None:
        markup = self._markup
        if name in ("TH", "Dt"):
            name_and_section = [word for word in words[:2] if word]
            self._title = (
                "{}({})".format(*name_and_section) if len(name_and_section) == 2 else " ".join(words)
            )
            if name == "TH" and len(words) > 2:
                self._date = _iso(words[2])
            self._put(" ".join(words[:1] + words[2:]))
            markup.line()
        elif name == "Dd":
            self._date = _iso(" ".join(words))
        elif name in ("SH", "Sh", "SS", "Ss"):
            self._literal = False
            markup.heading(" ".join(words), 2 if name in ("SH", "Sh") else 3)
        elif name in ("nf", "EX", "fi", "EE"):
            markup.line()
            self._literal = name in ("nf", "EX")
        elif name in ("UR", "MT"):
            self._url = words[0] if words else ""
        elif name in ("UE", "ME"):
            self._end_link()
            self._put("".join(words))
        elif name in _FONTS:
            # Macros with two letters alternate between fonts, without spaces.
            self._put((" " if len(name) == 1 or name in ("SM", "SB") else "").join(words))
            if self._literal or self._tag:
                markup.line()
            self._tag = False
        elif name in ("TP", "TQ"):
            markup.line()
            self._tag = True
        elif name == "IP":
            markup.line()
            if words and any(character.isalnum() for character in words[0]):
                markup.paragraph(words[0])
        elif name in ("OP", "SY"):
            markup.text(" ".join(words) + " ")
        elif name == "It":
            markup.line()
            self._inline(words)
            markup.line()
        elif name.lstrip("%") in _WORDS or name in _MARKS:
            self._inline([name, *words])
        elif name in _BREAKS:
            markup.line()
        elif name not in _IGNORED and words:
            # A macro that the page defines itself.
            self._put(" ".join(words))

    def _inline(self, words: list[str]) -> None:
        """The macros of mdoc in a line."""
        shown: list[str] = []
        closing: list[str] = []
        words = list(words)
        while words:
            word = words.pop(0).lstrip("%")
            if word == "Fl":
                flag = words.pop(0) if words and words[0] not in _WORDS and words[0] not in _MARKS else ""
                shown.append(f"-{flag}")
            elif word == "Nm":
                if words and words[0] not in _WORDS and words[0] not in _MARKS and words[0][:1].isalnum():
                    self._name = self._name or words[0]
                else:
                    shown.append(self._name)
            elif word == "Xr" and len(words) >= 2 and words[1][:1].isdigit():
                shown.append(f"{words.pop(0)}({words.pop(0)})")
            elif word == "Lk" and words:
                url = words.pop(0)
                self._put(" ".join(shown))
                shown.clear()
                self._markup.link(url, " ".join(words) or url)
                self._markup.text(" ")
                words.clear()
            elif word == "Nd":
                shown.append("–")
            elif word in _MARKS:
                opening, end = _MARKS[word]
                shown.append(opening)
                closing.append(end)
            elif word not in _WORDS:
                shown.append(word)
        self._put(" ".join([*shown, *reversed(closing)]))

    def _put(self, text: str) -> None:
        if self._url:
            self._markup.link(self._url, text or self._url)
            self._url = ""
            self._markup.text(" ")
        else:
            self._markup.text(text + " ")

    def _end_link(self) -> None:
        if self._url:
            self._put(self._url)

    def _shown(self, text: str) -> str:
        def replace(found: re.Match[str]) -> str:
            motion, string, string2, string1, long, short, quoted, single = found.groups()
            key = string or string2 or string1
            if key:
                return (
                    self._shown(self._strings.pop(key, ""))
                    if key in self._strings
                    else _CHARACTERS.get(key, "")
                )
            name = long or short or quoted
            if name:
                return _character(name)
            if motion is not None:
                return ""
            return {
                "e": "\\",
                "-": "-",
                "\\": "\\",
                "~": " ",
                " ": " ",
                "0": " ",
                "'": "´",
                "`": "`",
                "t": " ",
            }.get(single or "", single if single in (".", "{", "}") and single == "." else "")

        return _ESCAPE.sub(replace, _uncommented(text))


def _uncommented(text: str) -> str:
    return re.split(r'(?<!\\)\\["#]', text, maxsplit=1)[0]


def _character(name: str) -> str:
    if name in _CHARACTERS:
        return _CHARACTERS[name]
    if re.fullmatch(r"u[0-9A-F]{4,6}", name):
        return chr(min(int(name[1:], 16), 0x10FFFF))
    if name.startswith("char") and name[4:].isdigit():
        return chr(min(int(name[4:]), 0x10FFFF))
    if len(name) == 2 and name[0] in _ACCENTS:
        import unicodedata

        return unicodedata.normalize("NFC", name[1] + _ACCENTS[name[0]])
    return ""


def _iso(date: str) -> str:
    from datetime import datetime

    date = date.replace("$Mdocdate:", "").strip(" $")
    for form in (
        "%Y-%m-%d",
        "%B %d, %Y",
        "%d %B %Y",
        "%B %d %Y",
        "%b %d, %Y",
        "%m/%d/%Y",
        "%B %Y",
        "%Y/%m/%d",
    ):
        try:
            return datetime.strptime(date, form).date().isoformat()
        except ValueError:
            continue
    return ""
