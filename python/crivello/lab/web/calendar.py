"""The calendar trap: every month links to the previous and the next one, for ever."""

from __future__ import annotations

import re
from calendar import month_name

from crivello.lab.web.page import Frame, Link, document, link_list, paragraphs
from crivello.lab.web.resource import Resource

_MONTH = re.compile(r"/calendar/(\d{1,9})/(0[1-9]|1[0-2])")


class Calendar:
    """The pages below ``/calendar/`` of one host, generated on request."""

    def __init__(self, origin: str, frame: Frame) -> None:
        self.entry: str = f"{origin}/calendar/2026/01"
        self._prefix = f"{origin}/calendar/"
        self._frame = frame

    def holds(self, url: str) -> bool:
        """Whether the URL belongs to the calendar."""
        return url.startswith(self._prefix)

    def page(self, target: str) -> Resource | None:
        """The page of a month; None if ``target`` is not one."""
        match = _MONTH.fullmatch(target)
        if match is None:
            return None
        year, month = int(match[1]), int(match[2])
        links = []
        if (year, month) > (0, 1):
            links.append(Link(_month_path(year, month - 1), "previous month"))
        links.append(Link(_month_path(year, month + 1), "next month"))
        title = f"Events in {month_name[month]} {year}"
        content = f"{paragraphs(['No events have been announced for this month.'])}\n{link_list(links)}"
        return Resource(document(title, content, self._frame))


def _month_path(year: int, month: int) -> str:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return f"../{year:04}/{month:02}"
