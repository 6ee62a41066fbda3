"""What single readers make of the particulars of their format."""

from __future__ import annotations

import re
from html import unescape

import pytest

from crivello.convert import Converted, read


def _read(body: str | bytes, media_type: str) -> Converted:
    data = body.encode() if isinstance(body, str) else body
    found = read(data, "http://a.test/x", media_type, "utf-8")
    assert found.failure == ""
    return found


def _text(found: Converted) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", found.body)).split())


# --- manual pages -------------------------------------------------------------------------------------------

MANUAL = "application/x-troff-man"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ('.ie n .IP """basalt""" 4\n.el .IP "\\f(CWgabbro\\fR" 4\nflows', '"basalt" flows'),
        (".if t printed\n.if !t shown", "shown"),
        (".ie t \\{\\\n.B printed\n.\\}\n.el \\{\\\n.B shown\n.\\}\nafter", "shown after"),
        (".if \\n(.g groff\n.if \\nF>0 never\n.if '\\*x'' empty", "groff empty"),
        (".ds lava hot \\fIrock\\fP\n\\*[lava] and \\*[lava]", "hot rock and hot rock"),
        (".ds a \\*a\nx \\*a y", "x y"),
        (".de Two\n.B \\\\$2\nis \\\\$*\n..\n.Two one two", "two is one two"),
        (".de Loop\n.Loop\n..\nx\n.Loop\ny", "x y"),
        ("output\\(ulfile \\(*a\\(*W", "output_file αΩ"),
        (".TS\ntab(@);\nl l.\none@T{\n.B two\nthree\nT}\n.TE\nfour", "one two three four"),
        (".Dt X 1\n.Sh NAME\n.Ar A and B of\n.Fx 4 .\n.%A Ada", "NAME A and B of FreeBSD 4 . Ada"),
    ],
)  # fmt: skip
def test_a_manual_page_is_what_a_terminal_shows(source: str, shown: str) -> None:
    assert _text(_read(f"{source}\n", MANUAL)).removeprefix("X ") == shown


def test_links_of_a_manual_page() -> None:
    found = _read(
        ".UR https://b.test/gpl\nthe\nlicence\n.UE .\n.MT ada@b.test\nAda\n.ME\n.URL https://b.test/ home .\n",
        MANUAL,
    )
    assert re.findall(r'href="([^"]*)">([^<]*)<', found.body) == [
        ("https://b.test/gpl", "the licence"),
        ("https://b.test/", "home"),
    ]
    assert _text(found) == "the licence ⟨https://b.test/gpl⟩ . Ada ⟨ada@b.test⟩ home ⟨https://b.test/⟩ ."
