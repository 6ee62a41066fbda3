"""Templates to HTML."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from crivello._core import QueryText
from crivello.web.address import breadcrumb, cached_path, copies_path, followable, icon_path, why_path
from crivello.web.dates import in_words
from crivello.web.names import language_name, type_name
from crivello.web.paging import search_path
from crivello.web.static_files import static_path


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def _duration(microseconds: int) -> str:
    return f"{microseconds / 1e6:.1f} s" if microseconds >= 1_000_000 else f"{microseconds / 1e3:.1f} ms"


def _size(octets: int) -> str:
    return f"{octets / 1e6:,.1f} MB" if octets >= 1_000_000 else f"{max(1, round(octets / 1e3))} KB"


def _day(day: date) -> str:
    return f"{day.day} {day:%b %Y}"


def _moment(moment: datetime) -> str:
    return f"{_day(moment)}, {moment:%H:%M} UTC"


def _clock(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S}"


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


def _narrowed(query: str, clause: str) -> str:
    return QueryText(query).narrowed(clause)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("crivello.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        breadcrumb=breadcrumb,
        clock=_clock,
        count=_count,
        day=_day,
        duration=_duration,
        followable=followable,
        in_words=in_words,
        language_name=language_name,
        moment=_moment,
        sentence=_sentence,
        size=_size,
        type_name=type_name,
    )
    environment.globals.update(
        cached_path=cached_path,
        copies_path=copies_path,
        icon_path=icon_path,
        narrowed=_narrowed,
        search_path=search_path,
        static_path=static_path,
        why_path=why_path,
    )
    return environment


_ENVIRONMENT = _environment()


def render(template: str, /, **values: Any) -> str:
    return _ENVIRONMENT.get_template(template).render(values)


def html_page(template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(render(template, **values), status, headers={"Cache-Control": "no-cache"})
