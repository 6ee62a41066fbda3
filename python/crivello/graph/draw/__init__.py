"""Drawings of a graph as SVG: the neighbourhood of a node, and its most important nodes.

    >>> drawing = draw_neighbourhood(graph, graph.node("https://www.example.org/"), graph.pagerank())
    >>> Path("neighbourhood.svg").write_text(str(drawing))

At most 200 nodes are drawn, all with a label, and no labels overlap. The area of a node is its importance. Of the
arcs between them all are drawn, the telling ones clearly: an arc of a node with few to a node with few says more
than one of a menu to the home page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crivello.graph.draw.choice import LIMIT, Part, around, most_important
from crivello.graph.draw.labels import (
    common_folder,
    folder_of,
    host_of,
    is_url,
    label_of,
    printable,
    shortened,
    width,
)
from crivello.graph.draw.layout import apart, backbone, positions, tells
from crivello.graph.draw.svg import OTHERS, PALETTE, Arrow, Disc, Drawing
from crivello.graph.graph import Graph
from crivello.graph.scores import Scores

__all__ = ["LIMIT", "Drawing", "draw_most_important", "draw_neighbourhood"]

_RADII = (3.5, 26.0)
_SIZES = (9.0, 15.0)
_DOMINANT = 0.8


def draw_neighbourhood(
    graph: Graph, node: int, scores: Scores, *, radius: int = 2, limit: int = LIMIT
) -> Drawing:
    """Draws a node and those within ``radius`` arcs of it, along or against the arcs."""
    part = around(graph, node, np.asarray(scores), radius=radius, limit=min(limit, LIMIT))
    name = graph.name(node)
    names = [graph.name(place) for place in part.nodes.tolist()]
    steps = "1 step" if radius == 1 else f"{radius} steps"
    drawn = _counted(len(names), part.met, f"nodes within {steps}")
    title = f"The neighbourhood of {printable(shortened(name, 80))}"
    return _draw(part, names, scores, title, drawn, _relations(part), centred=True)


def draw_most_important(
    graph: Graph, scores: Scores, *, title: str = "The most important nodes", limit: int = LIMIT
) -> Drawing:
    """Draws the most important nodes of a graph; of a graph of hosts, all that fit."""
    part = most_important(graph, np.asarray(scores), limit=min(limit, LIMIT))
    names = [graph.name(place) for place in part.nodes.tolist()]
    drawn = _counted(len(names), part.met, "nodes")
    return _draw(part, names, scores, title, drawn, _components(part), centred=False)


def _counted(drawn: int, met: int, what: str) -> str:
    return f"{drawn:,} {what}" if drawn == met else f"the {drawn:,} most important of {met:,} {what}"


def _draw(
    part: Part,
    names: list[str],
    scores: Scores,
    title: str,
    drawn: str,
    otherwise: list[str],
    *,
    centred: bool,
) -> Drawing:
    start = common_folder(names)
    groups = _groups(names, start) or otherwise
    kinds = [group for group, _ in Counter(groups).most_common()]
    colours = {group: PALETTE[place] if place < len(PALETTE) else OTHERS for place, group in enumerate(kinds)}
    values = np.asarray(scores)[part.nodes]
    share = np.sqrt(np.maximum(values, 0) / max(float(np.nanmax(values, initial=0)), 1e-300))
    radii = np.maximum(_RADII[0], _RADII[1] * share)
    sizes = _SIZES[0] + (_SIZES[1] - _SIZES[0]) * share
    if centred:
        radii[0], sizes[0] = max(radii[0], 9.0), max(sizes[0], 13.0)
    labels = [label_of(name, start) for name in names]
    numbers = np.array([kinds.index(group) for group in groups], np.intp)
    points = positions(len(names), part.arcs, numbers, centred=centred)
    points = _without_overlaps(points, labels, radii, sizes, bold=0 if centred else None)
    discs = [
        Disc(
            label=labels[place],
            x=float(points[place, 0]),
            y=float(points[place, 1]),
            radius=float(radii[place]),
            size=float(sizes[place]),
            colour=colours[groups[place]],
            tip=f"{name}\n{scores.measure or 'value'} {values[place]:.4g}",
            link=name if is_url(name) else "",
            is_centre=centred and place == 0,
        )
        for place, name in enumerate(names)
    ]
    notes = [
        f"{drawn}, {len(part.arcs):,} arcs between them; area: {scores.measure or 'value'}; "
        "an arrow points to what is linked"
    ]
    if start:
        notes.append(f"labels are relative to {printable(start)}")
    return Drawing(title, notes, discs, _arrows(part, centred), _legend(kinds, groups, colours))


def _without_overlaps(
    points: NDArray[np.float64],
    labels: Sequence[str],
    radii: NDArray[np.float64],
    sizes: NDArray[np.float64],
    *,
    bold: int | None,
) -> NDArray[np.float64]:
    """The points moved so that the boxes that hold a disc and its label do not overlap."""
    wide = np.array([width(label, sizes[place], bold=place == bold) for place, label in enumerate(labels)])
    below = 1.5 + 1.25 * sizes
    boxes = np.column_stack([np.maximum(wide, 2 * radii), 2 * radii + below])
    offsets = np.column_stack([np.zeros(len(labels)), below / 2])
    return apart(points, boxes, offsets)


def _arrows(part: Part, centred: bool) -> list[Arrow]:
    """The arcs, two opposite ones as one arrow; those of the centre and the telling ones are the clearest."""
    heaviest = float(part.weights.max(initial=1.0))
    clear = backbone(len(part.nodes), part.arcs)
    telling = tells(len(part.nodes), part.arcs)
    faint = min(0.3, 60 / max(1, len(part.arcs)))
    found = {
        (int(source), int(target)): (float(part.weights[place]), bool(clear[place]), float(telling[place]))
        for place, (source, target) in enumerate(part.arcs)
    }
    arrows = []
    for (source, target), (weight, is_clear, tell) in found.items():
        back = found.get((target, source))
        if back is not None:
            if source > target:
                continue
            weight, is_clear, tell = max(weight, back[0]), is_clear or back[1], max(tell, back[2])
        strength = faint if not is_clear else min(1.0, 0.3 + tell)
        if centred and 0 in (source, target):
            strength = max(strength, 0.7)
        heavy = np.log1p(weight) / np.log1p(heaviest) if heaviest > 1 else 0.2
        arrows.append(Arrow(source, target, 0.6 + 2.4 * float(heavy), strength, back is not None))
    return arrows


def _groups(names: Sequence[str], start: str) -> list[str] | None:
    """What pages are coloured by: hosts, if there are several, or else folders; ``None`` if almost all are in one."""
    if not all(map(is_url, names)):
        return None
    groups = [folder_of(name, start) if start else host_of(name) for name in names]
    [(_, largest)] = Counter(groups).most_common(1)
    return groups if largest <= _DOMINANT * len(groups) else None


def _relations(part: Part) -> list[str]:
    """How each node is related to the centre."""
    links = {int(source) for source, target in part.arcs if target == 0}
    linked = {int(target) for source, target in part.arcs if source == 0}
    names = {(True, True): "both ways", (True, False): "links to it", (False, True): "linked by it"}
    relations = [names.get((place in links, place in linked), "further") for place in range(len(part.nodes))]
    return ["the node itself", *relations[1:]]


def _components(part: Part) -> list[str]:
    """The weak components of the drawn nodes, the largest first; nodes alone are one group."""
    label = np.arange(len(part.nodes))
    while True:
        least = label.copy()
        np.minimum.at(least, part.arcs[:, 0], label[part.arcs[:, 1]])
        np.minimum.at(least, part.arcs[:, 1], label[part.arcs[:, 0]])
        if (least == label).all():
            break
        label = least
    sizes = Counter(label.tolist())
    order = {found: place for place, (found, _) in enumerate(sizes.most_common(), 1)}
    return [f"component {order[found]}" if sizes[found] > 1 else "alone" for found in label.tolist()]


def _legend(kinds: list[str], groups: list[str], colours: dict[str, str]) -> list[tuple[str, str]]:
    if len(kinds) < 2:
        return []
    counts = Counter(groups)
    shown = [
        (f"{shortened(printable(kind), 34)} ({counts[kind]:,})", colours[kind])
        for kind in kinds[: len(PALETTE)]
    ]
    others = sum(counts[kind] for kind in kinds[len(PALETTE) :])
    return [*shown, *([(f"others ({others:,})", OTHERS)] if others else [])]
