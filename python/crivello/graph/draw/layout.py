"""Where nodes are drawn: a force-directed layout, then the removal of overlaps.

All pairs of nodes repel each other, and arcs attract their ends (Fruchterman and Reingold 1991). Web pages share
menus, and with all of their arcs everything would be pulled into one heap: only the most telling arcs of each node
attract (``backbone``), those that few others have. A weak force keeps groups together. Then each node is a box that
holds its disc and its label; all are spread until the boxes have room, and boxes that overlap are pushed apart until
none do. n nodes take O(n²) a step: a second for the few hundred that are readable. The same graph is always drawn
the same way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_STEPS = 300
_GOLDEN = np.pi * (3 - np.sqrt(5))
_SIDE_RATIO = 1.5
_GROUPING = 0.02
_GRAVITY = 0.03
# The area of the drawing beside that of all boxes.
_ROOM = 2.5
_ROUNDS = 200
_GROWTH = 1.05

Points = NDArray[np.float64]


def backbone(nodes: int, arcs: NDArray[np.intp], each: int = 3) -> NDArray[np.bool_]:
    """Which arcs are among the ``each`` most telling ones of one of their ends.

    An arc of u to v tells 1/√(d⁺(u) d⁻(v)): a link that few others have says more than one of a menu.
    """
    kept = np.zeros(len(arcs), bool)
    if not len(arcs):
        return kept
    telling = tells(nodes, arcs)
    for side in (0, 1):
        order = np.lexsort((arcs[:, 1 - side], -telling, arcs[:, side]))
        ends = arcs[order, side]
        first = np.searchsorted(ends, ends)
        kept[order[np.arange(len(arcs)) - first < each]] = True
    return kept


def tells(nodes: int, arcs: NDArray[np.intp]) -> NDArray[np.float64]:
    """How telling each arc is, from 0 to 1."""
    out, into = (np.bincount(arcs[:, side], minlength=nodes) for side in (0, 1))
    telling: NDArray[np.float64] = 1 / np.sqrt(out[arcs[:, 0]] * into[arcs[:, 1]])
    return telling


def positions(
    nodes: int, arcs: NDArray[np.intp], groups: NDArray[np.intp], *, centred: bool = False
) -> Points:
    """A point for each node, about one unit apart; with ``centred`` the first stays in the middle."""
    if nodes == 0:
        return np.zeros((0, 2))
    # Phyllotaxis: evenly spread, without the symmetries that would keep nodes of a grid or a circle in line.
    turn = np.arange(nodes) * _GOLDEN
    points: Points = (
        np.sqrt(np.arange(nodes) + 0.5)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]) * 0.6
    )
    pull = np.zeros((nodes, nodes))
    strong = arcs[backbone(nodes, arcs)]
    pull[strong[:, 0], strong[:, 1]] = 1.0
    pull = np.maximum(pull, pull.T)
    # A node with many arcs is not to be torn to all sides, nor to gather all others around it.
    degrees = np.maximum(pull.sum(axis=1), 1.0)
    pull /= np.sqrt(np.sqrt(degrees[:, None] * degrees[None, :]))
    pull += _GROUPING * (groups[:, None] == groups[None, :])
    for step in range(_STEPS):
        heat = 0.1 * (1 - step / _STEPS) * np.sqrt(nodes) + 0.002
        difference = points[:, None, :] - points[None, :, :]
        distance = np.sqrt((difference**2).sum(axis=2)) + 1e-6
        force = (difference / distance[:, :, None] ** 2).sum(axis=1)
        force -= (difference * (pull * distance)[:, :, None]).sum(axis=1)
        force -= points * _GRAVITY * nodes**0.5
        if centred:
            force[0] -= points[0] * nodes
        length = np.sqrt((force**2).sum(axis=1)) + 1e-9
        points += force / length[:, None] * np.minimum(length, heat)[:, None]
    return points


def apart(points: Points, boxes: Points, offsets: Points, *, gap: float = 5.0) -> Points:
    """The points spread and moved so that no two boxes overlap; ``boxes`` are widths and heights, ``offsets``
    where the centre of each is, from its point.

    Two boxes that overlap move apart along the axis where they overlap less, in proportion to their sizes. If they
    are too crowded for that, everything is spread a little more, so that it ends.
    """
    half = boxes / 2 + gap / 2
    centres = _spread(points, half) + offsets
    reach = half[:, None, :] + half[None, :, :]
    upper = np.triu(np.ones((len(points), len(points)), bool), 1)
    while True:
        for _ in range(_ROUNDS):
            difference = centres[:, None, :] - centres[None, :, :]
            overlap = reach - np.abs(difference)
            one, other = np.nonzero((overlap > 1e-6).all(axis=2) & upper)
            if not len(one):
                return centres - offsets
            met = overlap[one, other]
            share = met / reach[one, other]
            axis = (share[:, 1] <= share[:, 0]).astype(int)
            along = np.arange(len(one))
            side = np.where(difference[one, other][along, axis] < 0, -1.0, 1.0)
            move = np.zeros((len(one), 2))
            move[along, axis] = side * (met[along, axis] / 2 + 1e-3)
            np.add.at(centres, one, move)
            np.add.at(centres, other, -move)
        centres *= _GROWTH


def _spread(points: Points, half: Points) -> Points:
    """The points on a page with room for their boxes, wider than it is tall.

    Half of a coordinate is its rank, so that a heap is loosened and far nodes do not leave the page empty.
    """
    if len(points) < 2:
        return points * 0.0
    area = _ROOM * 4 * half.prod(axis=1).sum()
    page = np.array([np.sqrt(area * _SIDE_RATIO), np.sqrt(area / _SIDE_RATIO)])
    low, high = points.min(axis=0), points.max(axis=0)
    even = np.argsort(np.argsort(points, axis=0, kind="stable"), axis=0) / (len(points) - 1)
    spread: Points = ((points - low) / np.maximum(high - low, 1e-9) + even - 1) / 2 * page
    return spread
