"""LaTeX source: its words, without running it.

Commands that format keep their arguments; those that set up, refer or draw lose them. Commands that the document
defines are expanded (``\\newcommand``, and ``\\def`` with undelimited parameters), to a limit; environments are not.
Of a formula its letters stay, as words.
"""

from __future__ import annotations

import re
import unicodedata

from crivello.convert import Converted, Markup

_TOKEN = re.compile(
    r"\\([a-zA-Z@]+)\*?[ \t]*|\\(.)|(\$\$?)|([{}])|(\n[ \t]*\n\s*)|([^\\${}\n]+|\n)", re.DOTALL
)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*\n?[ \t]*")
_VERBATIM = re.compile(
    r"\\begin\{(verbatim|lstlisting|Verbatim|minted|alltt)\*?\}(.*?)\\end\{\1\*?\}", re.DOTALL
)
_VERB = re.compile(r"\\verb\*?([^\sa-zA-Z])(.*?)\1")
_LANGUAGE = re.compile(
    r"\\usepackage\s*\[([^\]]*)\]\s*\{(?:babel|polyglossia)\}|\\setdefaultlanguage\{(\w+)\}"
)
_LANGUAGES = {
    "english": "en", "american": "en", "british": "en", "italian": "it", "german": "de", "ngerman": "de",
    "french": "fr", "francais": "fr", "spanish": "es", "portuguese": "pt", "brazilian": "pt", "dutch": "nl",
    "russian": "ru", "polish": "pl", "czech": "cs", "swedish": "sv", "danish": "da", "finnish": "fi", "greek": "el",
    "turkish": "tr", "hungarian": "hu", "catalan": "ca", "ukrainian": "uk", "romanian": "ro",
}  # fmt: skip
_DEFINITION = re.compile(
    r"\\(?:(?:new|renew|provide)command|DeclareRobustCommand)\*?\s*\{?\s*\\([A-Za-z@]+)\s*\}?\s*"
    r"(?:\[(\d)\]\s*)?(?:\[([^\]]*)\]\s*)?(?=\{)"
    r"|\\[gex]?def\s*\\([A-Za-z@]+)\s*([^{}\\]*)(?=\{)"
)
_DEFINING = frozenset(
    ["newcommand", "renewcommand", "providecommand", "DeclareRobustCommand", "def", "gdef", "edef", "xdef"]
)
# The most characters that definitions expand to, how many one counts as at least, and how deep they nest.
_EXPANDED, _EXPANSION, _NESTED = 2**23, 128, 20
_HEADINGS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "frametitle": 2,
}
_LINES = frozenset([
    "item", "par", "newline", "linebreak", "newpage", "clearpage", "maketitle", "hline", "toprule", "midrule",
    "bottomrule", "bigskip", "medskip", "smallskip",
])  # fmt: skip
# Commands whose arguments are not text: how many to drop.
_DROPPED = {
    "label": 1, "ref": 1, "eqref": 1, "pageref": 1, "cite": 1, "citep": 1, "citet": 1, "nocite": 1, "usepackage": 1,
    "documentclass": 1, "RequirePackage": 1, "input": 1, "include": 1, "includegraphics": 1, "bibliography": 1,
    "bibliographystyle": 1, "vspace": 1, "hspace": 1,
    "newenvironment": 3, "renewenvironment": 3, "setlength": 2, "addtolength": 2, "setcounter": 2, "newcounter": 1,
    "pagestyle": 1, "thispagestyle": 1, "newtheorem": 2, "theoremstyle": 1, "hypersetup": 1, "geometry": 1,
    "definecolor": 3, "color": 1, "textcolor": 1, "selectlanguage": 1, "DeclareMathOperator": 2, "lstset": 1,
    "usetikzlibrary": 1, "tikzset": 1, "index": 1, "glossary": 1, "hyphenation": 1, "graphicspath": 1,
    "addbibresource": 1, "usetheme": 1, "usecolortheme": 1, "setmainfont": 1, "fontsize": 2, "rule": 2, "vskip": 0,
    "hypertarget": 1, "phantomsection": 0, "newif": 0, "let": 0, "makeatletter": 0, "resizebox": 2,
    "raisebox": 1, "parbox": 1, "minipage": 1, "multicolumn": 2, "multirow": 2, "cline": 1, "bibitem": 1,
    "DeclareOption": 2, "ProvidesPackage": 1, "NeedsTeXFormat": 1, "newlength": 1, "value": 1, "stepcounter": 1,
    "addcontentsline": 3, "markboth": 2, "markright": 1, "setmonofont": 1, "setsansfont": 1,
}  # fmt: skip
# Environments with an argument that is not text, and those that are drawings.
_ARGUMENTS = {
    "tabular": 1,
    "tabularx": 2,
    "array": 1,
    "minipage": 1,
    "multicols": 1,
    "thebibliography": 1,
    "longtable": 1,
}
_DRAWINGS = frozenset({"tikzpicture", "picture", "filecontents"})
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł",
    "L": "Ł", "i": "ı", "j": "ȷ", "dots": "…", "ldots": "…", "textellipsis": "…", "LaTeX": "LaTeX", "TeX": "TeX",
    "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "textbackslash": "\\", "textasciitilde": "~", "textendash": "–",
    "textemdash": "—", "S": "§", "P": "¶", "copyright": "©", "pounds": "£", "euro": "€", "quad": " ", "qquad": " ",
    "textless": "<", "textgreater": ">", "textbar": "|", "textbullet": "•", "today": "", "and": ", ",
}  # fmt: skip
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip


def read(body: bytes, url: str, media_type: str, charset: str | None) -> Converted:
    """The text of a document, from ``\\begin{document}`` on."""
    del url, media_type
    source = body.decode(charset or "utf-8", errors="replace").replace("\r\n", "\n")
    reader = _Reader(source)
    reader.read()
    language = ""
    if found := _LANGUAGE.search(source):
        options = (found[1] or found[2] or "").replace(" ", "").split(",")
        language = next((_LANGUAGES[option] for option in reversed(options) if option in _LANGUAGES), "")
    return Converted(reader.title, str(reader.markup), language)


class _Reader:
    def __init__(self, source: str) -> None:
        self.markup = Markup()
        self.title = ""
        self._kept: list[str] = []
        self._macros: dict[str, tuple[int, str | None, str]] = {}
        self._expanded = self._depth = 0
        source = _VERBATIM.sub(lambda found: self._keep(found[2]), source)
        source = _VERB.sub(lambda found: self._keep(found[2]), source)
        self._source = _COMMENT.sub(r"\1", source)
        self._at = 0

    def _keep(self, text: str) -> str:
        """Takes text out of the way of the scanner."""
        self._kept.append(text)
        return f"\\verbatim@{{{len(self._kept) - 1}}}"

    def read(self) -> None:
        """Writes all of it."""
        begin = self._source.find("\\begin{document}")
        if begin >= 0:
            while self._at < begin and (found := _DEFINITION.search(self._source, self._at, begin)):
                self._at = found.end()
                self._define(found)
            for command in ("title", "author"):
                found = re.search(rf"\\{command}\s*(?:\[[^\]]*\]\s*)?(?=\{{)", self._source[:begin])
                if found:
                    self._at = found.end()
                    said = self._plain(self._argument())
                    if command == "title":
                        self.title = said
                    self.markup.paragraph(said)
            self._at = begin
        self._steps()

    def _steps(self) -> None:
        while self._at < len(self._source):
            self._step()

    def _define(self, found: re.Match[str]) -> None:
        """Remembers a command: how many arguments it has, the default of the first one, and what it stands for."""
        name, count, default, plain_name, parameters = found.groups()
        body = self._argument()
        if name:
            self._macros[name] = (int(count or 0), default, body)
        elif re.fullmatch(r"(?:#\d)*", parameters):
            self._macros[plain_name] = (len(parameters) // 2, None, body)

    def _expand(self, name: str) -> None:
        count, default, body = self._macros[name]
        given = []
        if default is not None:
            given.append(self._optional() or default)
        while len(given) < count:
            given.append(self._argument() or self._single())
        body = re.sub(r"#([1-9])", lambda found: "".join(given[int(found[1]) - 1 : int(found[1])]), body)
        self._expanded += len(body) + _EXPANSION
        if self._expanded > _EXPANDED or self._depth > _NESTED:
            return
        outer = self._source, self._at
        self._source, self._at = body, 0
        self._depth += 1
        self._steps()
        self._depth -= 1
        self._source, self._at = outer

    def _step(self) -> None:
        found = _TOKEN.match(self._source, self._at)
        if found is None:
            self._at += 1
            return
        self._at = found.end()
        command, symbol, _, brace, paragraph, text = found.groups()
        if command:
            self._command(command)
        elif symbol:
            self._symbol(symbol)
        elif brace == "}" and self._source[self._at : self._at + 1] == "{":
            # Arguments of a command that is not known here.
            self.markup.text(" ")
        elif paragraph:
            self.markup.line()
        elif text:
            text = (
                text.replace("~", " ")
                .replace("---", "—")
                .replace("--", "–")
                .replace("``", "“")
                .replace("''", "”")
            )
            self.markup.text(re.sub(r"[&_^]", " ", text))

    def _symbol(self, symbol: str) -> None:
        if symbol == "\\":
            self._optional()
            self.markup.line()
        elif symbol in _ACCENTS:
            self._accent(symbol)
        elif symbol in "#$%&_{}":
            self.markup.text(symbol)
        elif symbol in " ,;:\n\t":
            self.markup.text(" ")

    def _command(self, name: str) -> None:
        if name in _DEFINING:
            start = self._source.rfind("\\", 0, self._at)
            if found := _DEFINITION.match(self._source, start):
                self._at = found.end()
                self._define(found)
        elif name in _HEADINGS:
            self._optional()
            self.markup.heading(self._plain(self._argument()), _HEADINGS[name])
        elif name == "verbatim@":
            self.markup.text(self._kept[int(self._argument())] + " ")
        elif name == "title":
            self._optional()
            self.title = self.title or self._plain(self._argument())
        elif name == "href":
            url, text = self._argument(), self._plain(self._argument())
            self.markup.link(url.replace("\\", ""), text)
        elif name in ("url", "nolinkurl"):
            url = self._argument().replace("\\", "")
            self.markup.link(url, url)
        elif name == "begin":
            self._begin(self._argument().rstrip("*"))
        elif name == "end":
            self._argument()
            self.markup.line()
        elif name in _LINES:
            self.markup.line()
        elif name in _LETTERS:
            self.markup.text(_LETTERS[name])
        elif name in _ACCENTS:
            self._accent(name)
        elif name in _DROPPED:
            for _ in range(_DROPPED[name]):
                self._optional()
                self._argument()
            self._optional()
        elif name in ("footnote", "thanks", "caption"):
            self._optional()
            self.markup.text(" ")
        elif name in self._macros:
            self._expand(name)
        elif greek := _greek(name):
            self.markup.text(greek + " ")
        elif self._source[self._at : self._at + 1] == "[":
            self._optional()

    def _begin(self, name: str) -> None:
        self.markup.line()
        self._optional()
        for _ in range(_ARGUMENTS.get(name, 0)):
            self._argument()
        if name in _DRAWINGS:
            end = self._source.find(f"\\end{{{name}", self._at)
            self._at = len(self._source) if end < 0 else end
        elif name == "frame" and self._source[self._at : self._at + 1] == "{":
            self.markup.heading(self._plain(self._argument()))

    def _accent(self, accent: str) -> None:
        rest = self._source[self._at : self._at + 1]
        if rest == "{":
            base = self._argument()
        elif rest == "\\":
            found = re.compile(r"\\([ij])\s?").match(self._source, self._at)
            base = found[1] if found else ""
            self._at += len(found[0]) if found else 0
        else:
            base, self._at = rest, self._at + 1
        base = base.replace("\\i", "i").replace("\\j", "j")
        self.markup.text(unicodedata.normalize("NFC", base[:1] + _ACCENTS[accent]) + base[1:])

    def _optional(self) -> str:
        """Skips an optional argument, and returns it."""
        if found := re.compile(r"\s*\[").match(self._source, self._at):
            end = self._source.find("]", found.end())
            if 0 <= end < found.end() + 2000:
                self._at = end + 1
                return self._source[found.end() : end]
        return ""

    def _single(self) -> str:
        """The next character or command, which is an argument without braces."""
        found = re.compile(r"\s*(\\[a-zA-Z@]+|\\.|[^{}\s])", re.DOTALL).match(self._source, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[1]

    def _argument(self) -> str:
        """The next argument, without its braces; empty if there is none."""
        found = re.compile(r"\s*\{").match(self._source, self._at)
        if found is None:
            return ""
        depth, start = 1, found.end()
        for brace in re.compile(r"\\.|[{}]", re.DOTALL).finditer(self._source, start):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if not depth:
                self._at = brace.end()
                return self._source[start : brace.start()]
        self._at = len(self._source)
        return self._source[start:]

    def _plain(self, source: str) -> str:
        """The words of a piece of source."""
        inner = _Reader("")
        inner._source, inner._kept, inner._macros = source, self._kept, self._macros
        inner._expanded, inner._depth = self._expanded, self._depth + 1
        if inner._depth <= _NESTED:
            inner._steps()
        self._expanded = inner._expanded
        html = str(inner.markup)
        from html import unescape

        return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def _greek(name: str) -> str:
    """The letter of a command such as ``\\varphi``; empty if it is none."""
    letter = name.removeprefix("var")
    case = "CAPITAL" if letter[:1].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {letter.upper().replace('LAMBDA', 'LAMDA')}")
    except KeyError:
        return ""
