"""The registry of measures: each is a method of ``Graph`` with the decorator ``measure``.

The shell, the setting ``rank.measure`` and the documentation list what is registered here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from crivello.graph.graph import Graph
    from crivello.graph.scores import Scores

_Method = TypeVar("_Method", bound=Callable[..., Any])

MEASURES: dict[str, Measure] = {}
"""Every measure by its name in the shell."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: ``about`` is a line for people; ``small`` says that it is for small graphs only."""

    name: str
    about: str
    family: str
    small: bool
    method: Callable[..., Any]
    fixed: dict[str, Any]

    def __call__(self, graph: Graph, **options: Any) -> Scores:
        """The values of the nodes of a graph; ``options`` are keyword arguments of the method."""
        unknown = sorted(set(options) - set(self.options()))
        if unknown:
            known = ", ".join(self.options()) or "none"
            raise InvalidArgument(f"{self.name} has no option {unknown[0]}", hint=f"its options: {known}")
        scores: Scores = self.method(graph, **self.fixed, **options)
        scores.measure = self.name
        return scores

    def options(self) -> dict[str, inspect.Parameter]:
        """The options of the measure, by name: the keyword arguments of its method."""
        parameters = inspect.signature(self.method).parameters
        hidden = {"self", "progress", *self.fixed}
        return {name: parameter for name, parameter in parameters.items() if name not in hidden}


def measure(
    about: str, *, family: str, name: str = "", small: bool = False, **fixed: Any
) -> Callable[[_Method], _Method]:
    """Registers a method of ``Graph`` as a measure.

    ``name`` is that of the method with hyphens, unless it is given; ``fixed`` are arguments that this
    measure fixes, so that one method can be several measures (closeness by outgoing distances).
    """

    def register(method: _Method) -> _Method:
        called = name or method.__name__.replace("_", "-")
        MEASURES[called] = Measure(called, about, family, small, method, fixed)
        return method

    return register


def named(name: str) -> Measure:
    """The measure with a name; a clear error for an unknown one."""
    import difflib

    found = MEASURES.get(name)
    if found is None:
        near = difflib.get_close_matches(name, MEASURES, 1)
        hint = f"did you mean {near[0]}?" if near else f"the measures: {', '.join(sorted(MEASURES))}"
        raise InvalidArgument(f"there is no measure {name!r}", hint=hint)
    return found
