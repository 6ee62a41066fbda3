"""The stored copy of a page: a page of ours around it, and the copy itself where it can do no harm.

The copy is a stranger's page. It is shown in a frame that is a sandbox twice, by the frame and by its own
headers: it runs nothing, sends nothing and loads nothing. Its stored style sheets are put into it, without what they
would load themselves from elsewhere, and without any it gets one of ours. Of a document that a browser cannot show in a frame, the text that was converted is shown; the bytes
as they were sent are a download. Nothing here asks the network.
"""

from __future__ import annotations

import html
import re
from http import HTTPStatus
from urllib.parse import quote, urlencode, urljoin, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from crivello._core import reading
from crivello.errors import InvalidArgument
from crivello.store import CachedPage
from crivello.web.address import breadcrumb
from crivello.web.engine import Engine, engine_of
from crivello.web.headers import FRAMING_POLICY, POLICY, STRANGER_POLICY
from crivello.web.pages import html_page

_MEDIA_TYPE = re.compile(r"[a-z0-9][\w!#$&^.+-]*/[a-z0-9][\w!#$&^.+-]*", re.ASCII)
_UNKNOWN_TYPE = "application/octet-stream"
_NOT_IN_A_NAME = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]+')

# None of these takes more than linear time, whatever a page has: what is repeated ends where it could begin again.
_LINK = re.compile(r"<link\b[^<>]*+>", re.IGNORECASE)
_BASE = re.compile(r"<base\b[^<>]*+>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\s(rel|href|media|src|alt)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)
_COMMENT = re.compile(r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)")
_IMPORT = re.compile(
    r"""@import\s*+(?:url\(\s*+)?+(?:"([^"]*+)"|'([^']*+)'|([^()'"\s;]*+))\s*+\)?+([^;@'"{}]*+)(?:;|\Z)""",
    re.IGNORECASE,
)
_MEDIA = re.compile(r"(?!layer|supports)[a-z(][\w\s(),:.<>=-]*+", re.IGNORECASE)
_LOADED = re.compile(
    r"""url\(\s*+(?!["']?\s*+(?:data:|\#))(?:"[^"]*+"|'[^']*+'|[^()'"\s]*+)\s*+\)""", re.IGNORECASE
)
_IMAGE = re.compile(r"<img\b[^<>]*+>", re.IGNORECASE)
_STYLED = re.compile(r"<style\b", re.IGNORECASE)
_SHEETS_AT_MOST = 20
_SHEET_SIZE = 500_000

# Without specificity: whatever the page says of itself wins.
_PLAIN_STYLE = """<style>
:where(html){font:1.05rem/1.6 system-ui,sans-serif;color:#1d1f1e;background:#fff;overflow-wrap:break-word}
:where(body){max-width:48rem;margin:1.5rem auto;padding:0 1.25rem}
:where(h1,h2,h3){line-height:1.25}:where(img,video){max-width:100%}:where(a){color:#0b6a5c}
:where(pre){overflow:auto;white-space:pre-wrap}:where(pre,code){font-family:ui-monospace,monospace;font-size:.95em}
:where(td,th){padding:.15em .5em;text-align:left;vertical-align:top}
:where(div[id^="page="]){margin-bottom:2rem;padding-bottom:1rem;border-bottom:1px solid #ccc}
:where(div[id^="page="])::before{content:attr(id);float:right;color:#666;font-size:.8em}
</style>"""


async def cached_page(request: Request) -> Response:
    """The copy in a frame, under a banner that says what it is."""
    page = await _copy(request)
    address = urlencode({"url": page.url})
    response = html_page(
        "cached.html",
        name=engine_of(request).name,
        page=page,
        viewable=_viewable(page),
        view=f"/cached/view?{address}" if _viewable(page) or page.converted else None,
        raw=f"/cached/raw?{address}",
    )
    response.headers.update({POLICY: FRAMING_POLICY, "X-Robots-Tag": "noindex"})
    return response


async def cached_view(request: Request) -> Response:
    """The copy as a document to read, in a sandbox."""
    page = await _copy(request)
    if not _viewable(page) and not page.converted:
        raise HTTPException(HTTPStatus.NOT_FOUND, "the copy of this page has no text to show")
    shown = await run_in_threadpool(_shown, engine_of(request), page)
    headers = {POLICY: STRANGER_POLICY, "X-Robots-Tag": "noindex", "Cache-Control": "no-cache"}
    return Response(shown, media_type="text/html", headers=headers)


async def cached_raw(request: Request) -> Response:
    """The bytes of the copy: as a document in a sandbox, or as a file to keep."""
    page = await _copy(request)
    headers = {POLICY: STRANGER_POLICY, "X-Robots-Tag": "noindex", "Cache-Control": "no-cache"}
    if _viewable(page):
        kind = "text/html" if reading(page.media_type) == "html" else "text/plain"
        headers["Content-Type"] = f"{kind}; charset={page.encoding}" if page.encoding else kind
    else:
        named = _MEDIA_TYPE.fullmatch(page.media_type)
        headers["Content-Type"] = page.media_type if named else _UNKNOWN_TYPE
        headers["Content-Disposition"] = (
            f"attachment; filename*=UTF-8''{quote(_file_name(page.url), safe='')}"
        )
    return Response(page.body, headers=headers)


async def _copy(request: Request) -> CachedPage:
    url = request.query_params.get("url", "").strip()
    if not url:
        raise InvalidArgument("there is no URL", hint="put it in url: /cached?url=https://example.org/")
    page = await run_in_threadpool(engine_of(request).cached, url)
    if page is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, "there is no copy of this page here")
    return page


def _viewable(page: CachedPage) -> bool:
    return reading(page.media_type) in ("html", "text")


def _shown(engine: Engine, page: CachedPage) -> str:
    """The page as HTML with a style: its own as far as it is stored, otherwise a plain one."""
    if not _viewable(page):
        return page.converted + _PLAIN_STYLE
    text = _decoded(page.body, page.encoding)
    if reading(page.media_type) == "text":
        return f"<!doctype html><title></title><pre>{html.escape(text)}</pre>{_PLAIN_STYLE}"
    styled, stored, missing = _with_sheets(engine, page.url, text)
    # A few rules in the page itself are no style if all its sheets are missing.
    has_style = stored or (not missing and _STYLED.search(styled))
    return styled if has_style else styled + _PLAIN_STYLE


def _with_sheets(engine: Engine, url: str, text: str) -> tuple[str, int, int]:
    """The HTML with each linked style sheet that is stored in place of its link; how many are stored, and how many not."""
    sheets = _Sheets(engine)
    missing = stored = 0
    if base := _BASE.search(text):
        url = _joined(url, _attributes(base[0]).get("href", "")) or url

    def put_in(link: re.Match[str]) -> str:
        nonlocal missing, stored
        values = _attributes(link[0])
        relations = values.get("rel", "").lower().split()
        if "stylesheet" not in relations or "alternate" in relations:
            return link[0]
        rules = sheets.at(_joined(url, values.get("href", "")))
        if rules is None:
            missing += 1
            return link[0]
        stored += 1
        media = html.escape(values.get("media", "all"))
        # The end of an element cannot stand in a style sheet: "<\/" is the same to CSS.
        rules = rules.replace("</", "<\\/")
        return f'<style media="{media}">{rules}</style>'

    shown = _LINK.sub(put_in, _IMAGE.sub(_in_words, text))
    return shown, stored, missing


def _in_words(image: re.Match[str]) -> str:
    """The alternative text of a picture that is not stored: browsers put the sign of a broken one beside it."""
    values = _attributes(image[0])
    if values.get("src", "").lstrip().lower().startswith("data:"):
        return image[0]
    return f"<span>{html.escape(values['alt'])}</span>" if values.get("alt") else ""


class _Sheets:
    """The stored style sheets of a page, each alone: with the stored ones that it imports in place of that, and without
    fonts and images. The browser is told to load nothing, and need not be asked."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._left = _SHEETS_AT_MOST

    def at(self, url: str | None) -> str | None:
        """The rules of the style sheet at a URL; ``None`` if it is not stored, or one too many."""
        if url is None or not self._left:
            return None
        self._left -= 1
        sheet = self._engine.cached(url)
        if sheet is None or sheet.media_type != "text/css" or len(sheet.body) > _SHEET_SIZE:
            return None

        def put_in(rule: re.Match[str]) -> str:
            rules = self.at(_joined(sheet.url, rule[1] or rule[2] or rule[3])) or ""
            media = rule[4].strip()
            return f"@media {media} {{{rules}}}" if rules and _MEDIA.fullmatch(media) else rules

        rules = _COMMENT.sub("", _decoded(sheet.body, sheet.encoding))
        return _LOADED.sub("url(data:,)", _IMPORT.sub(put_in, rules))


def _attributes(tag: str) -> dict[str, str]:
    return {name.lower(): html.unescape(value.strip("\"'")) for name, value in _ATTRIBUTE.findall(tag)}


def _joined(url: str, href: str) -> str | None:
    try:
        return urljoin(url, href)
    except ValueError:
        return None


def _decoded(body: bytes, encoding: str | None) -> str:
    try:
        return body.decode(encoding or "utf-8", "replace")
    except LookupError:  # an encoding of browsers that Python does not have
        return body.decode("utf-8", "replace")


def _file_name(url: str) -> str:
    """The last step of the URL's path or, where it has none, the host."""
    crumbs = breadcrumb(urlsplit(url)._replace(query="", fragment="").geturl())
    return _NOT_IN_A_NAME.sub("-", crumbs[-1]).strip(". ")[:150] or "page"
