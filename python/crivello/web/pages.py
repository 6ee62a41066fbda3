"""Templates to HTML."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from crivello.web.address import breadcrumb, followable
from crivello.web.paging import search_path
from crivello.web.static_files import static_path


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def _duration(microseconds: int) -> str:
    return f"{microseconds / 1e6:.1f} s" if microseconds >= 1_000_000 else f"{microseconds / 1e3:.1f} ms"


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("crivello.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        breadcrumb=breadcrumb, count=_count, duration=_duration, followable=followable, sentence=_sentence
    )
    environment.globals.update(search_path=search_path, static_path=static_path)
    return environment


_ENVIRONMENT = _environment()


def render(template: str, /, **values: Any) -> str:
    return _ENVIRONMENT.get_template(template).render(values)


def html_page(template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(render(template, **values), status, headers={"Cache-Control": "no-cache"})
