"""A drawing as SVG: discs with labels, arcs with arrowheads, a title and a legend.

The text stays text, so it can be selected and searched; nodes that are pages are links; the colours follow the
reader's choice of a light or a dark page. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from crivello.graph.draw.labels import printable, width

PALETTE = (
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1",
    "#2aa198", "#d4a017", "#9c755f", "#e377c2", "#6f8f3a",
)  # fmt: skip
OTHERS = "#9aa0a6"
_MARGIN = 28.0
_HEAD = 70.0
_ROW = 19.0
_STYLE = """
svg { background: #ffffff; font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; }
text { fill: #1f2430; }
.label { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round; text-anchor: middle; }
.note { fill: #646b78; }
.arc { fill: none; stroke: #5c6470; }
.tip { fill: #5c6470; }
.disc { stroke: #ffffff; stroke-width: 1.2; }
.centre { stroke: #1f2430; stroke-width: 2.5; }
a:hover .label, .node:hover .label { fill: #0b57d0; font-weight: 600; }
a:hover .disc, .node:hover .disc { stroke: #0b57d0; stroke-width: 2.5; }
@media (prefers-color-scheme: dark) {
  svg { background: #15181e; }
  text { fill: #e6e8ec; }
  .label { stroke: #15181e; }
  .note { fill: #9aa2af; }
  .arc { stroke: #a3abb8; }
  .tip { fill: #a3abb8; }
  .disc { stroke: #15181e; }
  .centre { stroke: #ffffff; }
  a:hover .label, .node:hover .label { fill: #8ab4f8; }
  a:hover .disc, .node:hover .disc { stroke: #8ab4f8; }
}
"""


@dataclass(frozen=True, slots=True)
class Disc:
    """A node: its label, where its centre is, its radius, its colour, and what a click opens."""

    label: str
    x: float
    y: float
    radius: float
    size: float
    colour: str
    tip: str
    link: str = ""
    is_centre: bool = False

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The box of the label: left, top, right, bottom."""
        half = width(self.label, self.size, bold=self.is_centre) / 2
        top = self.y + self.radius + 1.5
        return self.x - half, top, self.x + half, top + 1.25 * self.size


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arc between two discs; ``strength`` from 0 to 1 is how clearly it is drawn."""

    source: int
    target: int
    width: float
    strength: float
    both: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing of a part of a graph; ``str`` is the SVG."""

    title: str
    notes: list[str]
    discs: list[Disc]
    arrows: list[Arrow]
    legend: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return to_svg(self)


def to_svg(drawing: Drawing) -> str:
    """The text of the SVG file."""
    left, top, right, bottom = _bounds(drawing)
    key = max((width(text, 12) for text, _ in drawing.legend), default=-30.0) + 30
    head = _HEAD + 17 * max(0, len(drawing.notes) - 1)
    words = max(width(drawing.title, 20), *(width(note, 12.5) for note in drawing.notes), 200.0)
    wide = max(right - left + 2 * _MARGIN + key + _MARGIN, words + 2 * _MARGIN)
    tall = max(bottom - top, _ROW * len(drawing.legend)) + head + 2 * _MARGIN
    shift = (_MARGIN - left, head + _MARGIN - top)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' viewBox="0 0 {wide:.0f} {tall:.0f}" width="{wide:.0f}" height="{tall:.0f}" role="img">',
        f"<title>{escape(drawing.title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<text x="{_MARGIN}" y="36" font-size="20" font-weight="600">{escape(drawing.title)}</text>',
    ]
    for row, note in enumerate(drawing.notes):
        lines.append(
            f'<text class="note" x="{_MARGIN}" y="{58 + 17 * row}" font-size="12.5">{escape(note)}</text>'
        )
    lines.append(f'<g transform="translate({shift[0]:.1f} {shift[1]:.1f})">')
    weakest_first = sorted(drawing.arrows, key=lambda arrow: arrow.strength)
    lines += [
        _arrow(drawing.discs[arrow.source], drawing.discs[arrow.target], arrow) for arrow in weakest_first
    ]
    smallest_last = sorted(drawing.discs, key=lambda disc: -disc.radius)
    lines += [_disc(disc) for disc in smallest_last]
    lines.append("</g>")
    lines += _legend(drawing.legend, wide - key, head + _MARGIN)
    lines.append("</svg>\n")
    return "\n".join(lines)


def _bounds(drawing: Drawing) -> tuple[float, float, float, float]:
    if not drawing.discs:
        return 0.0, 0.0, 400.0, 100.0
    boxes = [
        (
            min(disc.x - disc.radius, disc.box[0]),
            disc.y - disc.radius,
            max(disc.x + disc.radius, disc.box[2]),
            disc.box[3],
        )
        for disc in drawing.discs
    ]
    sides: NDArray[np.float64] = np.array(boxes)
    left, top = sides[:, :2].min(axis=0)
    right, bottom = sides[:, 2:].max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def _disc(disc: Disc) -> str:
    kind = "disc centre" if disc.is_centre else "disc"
    weight = ' font-weight="600"' if disc.is_centre else ""
    inside = (
        f"<title>{escape(printable(disc.tip))}</title>"
        f'<circle class="{kind}" cx="{disc.x:.1f}" cy="{disc.y:.1f}" r="{disc.radius:.1f}" fill="{disc.colour}"/>'
        f'<text class="label" x="{disc.x:.1f}" y="{disc.y + disc.radius + 1.5 + disc.size:.1f}"'
        f' font-size="{disc.size:.1f}"{weight}>{escape(disc.label)}</text>'
    )
    if not disc.link:
        return f'<g class="node">{inside}</g>'
    target = quoteattr(disc.link)
    return f'<a xlink:href={target} href={target} target="_blank" class="node">{inside}</a>'


def _arrow(source: Disc, target: Disc, arrow: Arrow) -> str:
    """A slightly curved line from edge to edge of the discs, with a head at its end (both ends, if both)."""
    start, end = np.array([source.x, source.y]), np.array([target.x, target.y])
    way = end - start
    length = float(np.hypot(*way)) or 1.0
    way = way / length
    across = np.array([-way[1], way[0]])
    bend = 0.0 if arrow.both else min(0.08 * length, 24.0)
    middle = (start + end) / 2 + across * bend
    head = 2.8 + 1.6 * arrow.width
    arrive, depart = _toward(end, middle, start), _toward(start, middle, end)
    tip = end + arrive * (target.radius + 1)
    tail = start + depart * (source.radius + 1)
    stop = tip + arrive * head * 0.8
    begin = tail + depart * head * 0.8 if arrow.both else tail
    heads = [_tip(tip, arrive, head)] + ([_tip(tail, depart, head)] if arrow.both else [])
    opacity = f"{0.03 + 0.55 * arrow.strength:.3f}"
    line = (
        f'<path class="arc" d="M{begin[0]:.1f} {begin[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f}'
        f' {stop[0]:.1f} {stop[1]:.1f}" stroke-width="{arrow.width:.2f}"/>'
    )
    return f'<g opacity="{opacity}">{line}<path class="tip" d="{"".join(heads)}"/></g>'


def _toward(
    point: NDArray[np.float64], middle: NDArray[np.float64], else_to: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The direction from a point to the control point of its curve."""
    way = middle - point
    if not way.any():
        way = else_to - point
    unit: NDArray[np.float64] = way / (np.hypot(*way) or 1.0)
    return unit


def _tip(at: NDArray[np.float64], back: NDArray[np.float64], size: float) -> str:
    side = np.array([-back[1], back[0]]) * size * 0.42
    one, other = at + back * size + side, at + back * size - side
    return f"M{at[0]:.1f} {at[1]:.1f}L{one[0]:.1f} {one[1]:.1f}L{other[0]:.1f} {other[1]:.1f}Z"


def _legend(rows: list[tuple[str, str]], left: float, top: float) -> list[str]:
    lines = []
    for row, (text, colour) in enumerate(rows):
        y = top + _ROW * row
        lines.append(f'<circle cx="{left:.1f}" cy="{y:.1f}" r="5.5" fill="{colour}"/>')
        lines.append(f'<text x="{left + 12:.1f}" y="{y + 4:.1f}" font-size="12">{escape(text)}</text>')
    return lines
