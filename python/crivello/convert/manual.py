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
    "mc": "µ", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o/": "ø", "O/": "Ø", "oa": "å", "oA": "Å",
    "/l": "ł", "/L": "Ł", "-D": "Ð", "Sd": "ð", "TP": "Þ", "Tp": "þ", ".i": "ı", "lh": "☜", "rh": "☞", "sq": "□",
    "lt": "<", "gt": ">", "la": "⟨", "ra": "⟩", "Fo": "«", "Fc": "»", "fo": "‹", "fc": "›", "ci": "○", "ul": "_",
    "ru": "_", "mi": "−", "pl": "+", "eq": "=", "di": "÷", "==": "≡", "~=": "≈", "mo": "∈", "12": "½", "14": "¼",
    "34": "¾", "S1": "¹", "S2": "²", "S3": "³", "%0": "‰", "fm": "′", "sd": "″", "dg": "†", "dd": "‡", "sc": "§",
    "ps": "¶", "ct": "¢", "Po": "£", "Ye": "¥", "r!": "¡", "r?": "¿", "lC": "{", "rC": "}", "S": "", "html": "",
}  # fmt: skip
_GREEK = dict(zip("abgdezyhiklmncoprstufxqw", "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
_ACCENTS = {"'": "\u0301", "`": "\u0300", ":": "\u0308", "^": "\u0302", "~": "\u0303", ",": "\u0327"}
_REQUEST = re.compile(r"[ \t]*([^\s\\]*)(?:[ \t]|(?=\\)|$)(.*)")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S(?:\\ |\S)*)')
_FONTS = frozenset(["B", "I", "R", "BI", "BR", "IB", "IR", "RB", "RI", "SM", "SB"])
_BREAKS = frozenset([
    "PP", "P", "LP", "br", "sp", "HP", "IP", "TP", "RS", "RE", "TQ", "nf", "fi", "EX", "EE", "ce", "Pp", "Bl",
    "El", "Bd", "Ed", "Lp", "D1", "Dl", "SY", "YS", "YE",
])  # fmt: skip
_IGNORED = frozenset([
    "ab", "ad", "af", "als", "am", "as", "at", "blm", "bp", "c2", "cc", "ch", "char", "chop", "close", "color",
    "continue", "cp", "cs", "cu", "da", "de", "defcolor", "device", "di", "do", "ds", "ec", "el", "em", "eo",
    "ev", "evc", "ex", "fam", "fchar", "fp", "ft", "ftr", "hc", "hla", "hlm", "hw", "hy", "hym", "hys", "ie",
    "if", "ig", "in", "it", "itc", "lc", "length", "lf", "ll", "ls", "lt", "mc", "mk", "mso", "na", "ne", "nh",
    "nm", "nn", "nop", "nr", "ns", "nx", "open", "os", "pc", "pi", "pl", "pm", "pn", "po", "ps", "pso", "rd",
    "return", "rm", "rn", "rr", "rs", "rt", "shc", "shift", "so", "ss", "substring", "sv", "sy", "ta", "tc",
    "ti", "tl", "tm", "tm1", "tr", "trf", "trin", "uf", "ul", "vpt", "vs", "warn", "wh", "while", "write",
    "writec", "break", "box", "TS", "TE", "PS", "PE", "EQ", "EN", "UC", "AT", "DT", "PD", "IX", "Bk", "Ek",
    "Sm", "Dd", "Os", "LINKSTYLE",
])  # fmt: skip
# Registers with a value in groff on a terminal: its own mark, and its resolution. The others are 0.
_REGISTERS = {".g": 1, ".H": 24, ".V": 40}
_REGISTER = re.compile(r"\\n[+-]?(?:\[([^\]]*)\]|\((..)|(.))")
_NUMBER = re.compile(r"\(*(-?\d+)(?:(==?|<=?|>=?)\(*(-?\d+))?")
_NESTED = 20
# Macros of mdoc whose arguments are words or further macros, and what they put around them.
_MARKS = {
    "Op": ("[", "]"), "Oo": ("[", ""), "Oc": ("]", ""), "Aq": ("<", ">"), "Bq": ("[", "]"), "Brq": ("{", "}"),
    "Dq": ("“", "”"), "Sq": ("‘", "’"), "Ql": ("‘", "’"), "Qq": ('"', '"'), "Pq": ("(", ")"), "Fn": ("", "()"),
    "Po": ("(", ""), "Pc": (")", ""), "Bo": ("[", ""), "Bc": ("]", ""), "Ao": ("<", ""), "Ac": (">", ""),
    "Do": ("“", ""), "Dc": ("”", ""), "So": ("‘", ""), "Sc": ("’", ""), "Qo": ('"', ""), "Qc": ('"', ""),
}  # fmt: skip
_SYSTEMS = {
    "Bx": "BSD", "Bsx": "BSD/OS", "Nx": "NetBSD", "Fx": "FreeBSD", "Ox": "OpenBSD", "Dx": "DragonFly", "Ux": "UNIX"
}  # fmt: skip
_WORDS = frozenset([
    "Ad", "An", "Ar", "Cd", "Cm", "Dv", "Em", "Er", "Ev", "Fa", "Fd", "Fl", "Ft", "Ic", "Li", "Ms", "Mt", "No",
    "Nd", "Nm", "Ns", "Pa", "Sx", "Sy", "Tn", "Va", "Vt", "Xr", "Lk", "Ap", "Bx", "At", "Nx", "Fx", "Ox", "St",
    "Rv", "Ex", "It", "Sh", "Ss", "Tg", "Ux", "Xo", "Xc", "Pf", "Ta", "In", "Lb", "Es", "En", "Bsx", "Dx", "Bf",
    "Ef", "Rs", "Re",
])  # fmt: skip


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The text of a page; its title is its name with its section."""
    del url, media_type
    return _Page().read(body.decode(charset or "utf-8", errors="replace"))


class _Page:
    def __init__(self) -> None:
        self._markup = Markup()
        self._title = self._date = self._name = self._target = ""
        self._anchor: list[str] = []
        self._strings: dict[str, str] = {}
        self._macros: dict[str, list[str]] = {}
        self._depth = 0
        self._literal = self._tag = self._otherwise = False

    def read(self, text: str) -> Converted:
        self._lines(iter(text.replace("\\\n", "").splitlines()))
        self._end_link()
        return Converted(self._title, str(self._markup), date=self._date)

    def _lines(self, lines: Iterator[str]) -> None:
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

    def _request(self, line: str, lines: Iterator[str]) -> None:
        name, rest = _REQUEST.match(line, 1).groups()  # type: ignore[union-attr]
        if name in ("de", "ig", "am", "de1", "am1"):
            self._define(name, rest.split(), lines)
        elif name in ("if", "ie", "el"):
            self._condition(name, rest, lines)
        elif name in ("ds", "as"):
            key, _, value = rest.lstrip().partition(" ")
            value = value.lstrip(" ").removeprefix('"')
            self._strings[key] = self._strings.get(key, "") + value if name == "as" else value
        elif name in ("TS", "EQ", "PS"):
            self._table(name, lines)
        elif name and name != ".":
            given = _ARGUMENT.findall(_uncommented(rest))
            self._macro(name, [self._shown(quoted.replace('""', '"') or plain) for quoted, plain in given])

    def _define(self, name: str, words: list[str], lines: Iterator[str]) -> None:
        """Remembers a macro that the page defines; ``ig`` is a comment."""
        end = f".{((words if name == 'ig' else words[1:]) or ['.'])[0]}"
        body = []
        for line in lines:
            if line.replace(" ", "").startswith((end, "..")):
                break
            body.append(line.replace("\\\\", "\\"))
        if name != "ig" and words:
            self._macros[words[0]] = body

    def _expand(self, body: list[str], words: list[str]) -> None:
        """Runs a macro of the page; one that calls itself ends at a depth."""

        def given(found: re.Match[str]) -> str:
            number = found[1]
            return " ".join(words) if number in "*@" else "".join(words[int(number) - 1 : int(number)])

        if self._depth < _NESTED:
            self._depth += 1
            self._lines(iter([re.sub(r"\\\$([1-9*@])", given, line) for line in body]))
            self._depth -= 1

    def _condition(self, name: str, rest: str, lines: Iterator[str]) -> None:
        """The branch for terminals."""
        if name == "el":
            holds, guarded = self._otherwise, rest.lstrip()
        else:
            holds, guarded = self._holds(rest.lstrip())
        if name == "ie":
            self._otherwise = not holds
        block = [guarded]
        if guarded.startswith("\\{"):
            depth = guarded.count("\\{") - guarded.count("\\}")
            while depth > 0 and (more := next(lines, None)) is not None:
                block.append(more)
                depth += more.count("\\{") - more.count("\\}")
            block = [re.sub(r"\\[{}]", "", line).lstrip() if line.strip() else "" for line in block]
        if holds and self._depth < _NESTED:
            self._depth += 1
            self._lines(line for line in block if line)
            self._depth -= 1

    def _holds(self, text: str) -> tuple[bool, str]:
        """Whether a condition holds, and what it guards."""
        negated = text.startswith("!")
        text = text.lstrip("! ")
        if text[:1] in ("n", "o", "t", "e", "v"):
            holds, rest = text[0] in "no", text[1:]
        elif text[:1] in ("d", "r", "c", "F", "m", "S"):
            key, _, rest = text[1:].lstrip().partition(" ")
            holds = text[0] == "d" and (key in self._strings or key in self._macros)
        elif text[:1] in ("'", '"'):
            one, _, after = text[1:].partition(text[0])
            other, _, rest = after.partition(text[0])
            holds = self._shown(one) == self._shown(other)
        else:
            expression, _, rest = text.partition(" ")
            expression = _REGISTER.sub(
                lambda found: str(_REGISTERS.get(found[1] or found[2] or found[3] or "", 0)), expression
            )
            holds = _positive(expression)
        return holds != negated, rest.lstrip()

    def _table(self, name: str, lines: Iterator[str]) -> None:
        end = {"TS": ".TE", "EQ": ".EN", "PS": ".PE"}[name]
        in_format = name == "TS"
        separator = "\t"
        self._markup.line()
        for line in lines:
            if line.startswith(end):
                break
            if name != "TS":
                continue
            if in_format:
                if found := re.search(r"\btab ?\((.)\)", line):
                    separator = found[1]
                in_format = not line.rstrip().endswith(".")
            elif line.rstrip() == ".T&":
                in_format = True
            elif line[:1] in (".", "'"):
                self._request(line, lines)
            elif line.strip() not in ("_", "="):
                self._markup.paragraph(self._shown(re.sub(r"T[{}]", " ", line.replace(separator, " "))))
        self._markup.line()

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
            self._end_link()
            markup.heading(" ".join(words), 2 if name in ("SH", "Sh") else 3)
        elif name in ("nf", "EX", "fi", "EE"):
            markup.line()
            self._literal = name in ("nf", "EX")
        elif name in ("UR", "MT"):
            self._end_link()
            self._target = words[0] if words else ""
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
        elif name in _WORDS or name in _MARKS or name[:1] == "%":
            self._inline([name, *words])
        elif name in _BREAKS:
            markup.line()
        elif name in ("URL", "MTO") and words:
            self._target = words[0]
            self._put(words[1] if len(words) > 1 else "")
            self._end_link()
            self._put("".join(words[2:3]))
        elif name in self._macros:
            self._expand(self._macros[name], words)
        elif name not in _IGNORED and words:
            self._put(" ".join(words))

    def _inline(self, words: list[str]) -> None:
        """The macros of mdoc in a line."""
        shown: list[str] = []
        closing: list[str] = []
        words = list(words)
        while words:
            word = words.pop(0)
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
            elif word in _SYSTEMS:
                shown.append(_SYSTEMS[word])
            elif word == "Nd":
                shown.append("–")
            elif word in _MARKS:
                opening, end = _MARKS[word]
                shown.append(opening)
                closing.append(end)
            elif word not in _WORDS and word[:1] != "%":
                shown.append(word)
        self._put(" ".join([*shown, *reversed(closing)]))

    def _put(self, text: str) -> None:
        if self._target:
            self._anchor.append(text)
        else:
            self._markup.text(text + " ")

    def _end_link(self) -> None:
        """A link is shown with its address; one to an e-mail address leads nowhere on the web."""
        target, anchor = self._target, " ".join(self._anchor).strip()
        self._target, self._anchor = "", []
        if "://" in target:
            self._markup.link(target, anchor or target)
            self._markup.text(f" ⟨{target}⟩ " if anchor else " ")
        elif target:
            self._markup.text(f"{anchor} ⟨{target}⟩ ")

    def _shown(self, text: str, depth: int = 0) -> str:
        def replace(found: re.Match[str]) -> str:
            motion, string, string2, string1, long, short, quoted, single = found.groups()
            key = string or string2 or string1
            if key:
                known = key in self._strings and depth < _NESTED
                return self._shown(self._strings[key], depth + 1) if known else _CHARACTERS.get(key, "")
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


def _positive(expression: str) -> bool:
    """Whether a number is positive, or a comparison of two holds; others do not."""
    found = _NUMBER.match(expression)
    if not found:
        return False
    one, relation, other = int(found[1]), found[2] or ">", int(found[3] or 0)
    return {"=": one == other, "<": one < other, ">": one > other}[relation[0]] or (
        relation in ("<=", ">=") and one == other
    )


def _character(name: str) -> str:
    if name in _CHARACTERS:
        return _CHARACTERS[name]
    if re.fullmatch(r"u[0-9A-F]{4,6}", name):
        return chr(min(int(name[1:], 16), 0x10FFFF))
    if name.startswith("char") and name[4:].isdigit():
        return chr(min(int(name[4:]), 0x10FFFF))
    if len(name) == 2 and name[0] == "*" and name[1].lower() in _GREEK:
        letter = _GREEK[name[1].lower()]
        return letter.upper() if name[1].isupper() else letter
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
