"""What the commands about graphs share: opening a graph, showing how a computation goes, reading options."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from crivello.cli.output import say, stderr_console
from crivello.errors import InvalidArgument, StorageError

if TYPE_CHECKING:
    from crivello._core import Progress
    from crivello.graph.graph import Graph
    from crivello.graph.measures import Measure
    from crivello.graph.scores import Scores


def graph_at(path: str) -> Graph:
    """The graph of a collection's folder, or of a file in any form, with progress on a terminal."""
    from crivello.collection import Collection
    from crivello.graph.files import load

    if Path(path).is_dir():
        return Collection(path).graph()
    with watching("reading") as progress:
        return load(path, progress=progress)


def either(folder: str, file: str, verb: str) -> str:
    """The path of the collection or of the file: exactly one of them must be given."""
    if bool(folder) == bool(file):
        raise InvalidArgument(
            "name either a collection or a graph", hint=f"crivello {verb} DIR, or --graph FILE"
        )
    if folder and Path(folder).is_file():
        raise InvalidArgument(
            f"{folder} is a file, not a collection",
            hint=f"for a graph: crivello {verb} --graph {shlex.quote(folder)}",
        )
    return folder or file


@contextmanager
def watching(what: str) -> Iterator[Progress | None]:
    """A native progress that is shown on a terminal, with the residual; ``None`` without a terminal."""
    console = stderr_console()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    from crivello._core import Progress

    native = Progress()

    class Polled(Bar):
        """A bar that reads the native progress whenever it is drawn."""

        def get_renderables(self) -> Any:
            done, total = native.done
            residual = f"residual {native.residual:.1e}" if native.residual else ""
            for task in self.task_ids:
                self.update(task, completed=done, total=total or None, residual=residual)
            yield from super().get_renderables()

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[residual]}"),
        TimeElapsedColumn(),
    )
    with Polled(*columns, console=console, transient=True) as bar:
        bar.add_task(what, total=None, residual="")
        yield native


def computed(graph: Graph, measure: Measure, options: dict[str, Any], *, told: bool = True) -> Scores:
    """The values of a measure, with progress on a terminal; what is known of its error goes to standard
    error."""
    mine = {name: value for name, value in options.items() if name in measure.options()}
    with watching(measure.name) as progress:
        scores = measure(graph.showing(progress), **mine)
    if told:
        tell(scores)
    return scores


def tell(scores: Scores) -> None:
    """Says how an iterative measure converged, and how exact an estimate is."""
    if scores.iterations is not None:
        residual = "" if scores.residual is None else f", residual {scores.residual:.2g}"
        steps = f"{scores.iterations:,} iteration{'' if scores.iterations == 1 else 's'}{residual}"
        verdict = "converged" if scores.converged else "warning: did NOT converge"
        say(f"{scores.measure}: {verdict} after {steps}")
    elif not scores.converged:
        say(f"{scores.measure}: warning: did NOT converge")
    if scores.error is not None:
        import numpy as np

        widest = float(np.max(scores.error, initial=0.0))
        sure = "" if scores.confidence is None else f" with probability {scores.confidence:.0%}"
        say(f"{scores.measure}: estimated, within ±{widest:.3g}{sure}")


def registry() -> dict[str, Measure]:
    """The measures that are methods of ``Graph``, by name."""
    from crivello.graph.graph import Graph
    from crivello.graph.measures import MEASURES

    return {name: measure for name, measure in MEASURES.items() if hasattr(Graph, measure.method.__name__)}


def measures_of(names: str) -> list[Measure]:
    """The measures in a list separated by commas."""
    from crivello.graph.measures import named

    registry()
    found = {name: named(name) for name in (part.strip() for part in names.split(",")) if name}
    if not found:
        raise InvalidArgument("no measure is named", hint="`crivello rank --list` shows them")
    return list(found.values())


def options_of(given: Sequence[str], measures: Sequence[Measure]) -> dict[str, Any]:
    """Options as NAME=VALUE; each must be an option of at least one of the measures."""
    options: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise InvalidArgument(
                f"--option: {text!r} is not NAME=VALUE", hint="as in --option tolerance=1e-6"
            )
        options[name] = _value(name, value.strip(), measures)
    return options


def _value(name: str, text: str, measures: Sequence[Measure]) -> Any:
    """The value of an option as its annotation wants it: a number, a word, or else nodes or weights."""
    known = [measure.options()[name] for measure in measures if name in measure.options()]
    if not known:
        every = sorted({option for measure in measures for option in measure.options()})
        hint = f"there are: {', '.join(every)}" if every else "there are none"
        raise InvalidArgument(f"{', '.join(m.name for m in measures)} has no option {name}", hint=hint)
    kind = str(known[0].annotation)
    base = kind.split(" | ")[0]
    if f'"{text}"' in kind or f"'{text}'" in kind or base.startswith(("str", "Literal")):
        return text
    if base in _KINDS:
        what, allowed = _KINDS[base]
        value = _decoded(text.lower())
        if not isinstance(value, allowed) and not (value is None and "None" in kind):
            raise InvalidArgument(f"--option {name}: {text!r} is not {what}")
        return value
    if text.startswith("@"):
        return _lines(text[1:])
    return _decoded(text) if text.startswith(("[", "{")) else [part.strip() for part in text.split(",")]


_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "float": ("a number", (int, float)),
    "int": ("a whole number", (int,)),
    "bool": ("true or false", (bool,)),
}


def _decoded(text: str) -> Any:
    """A value in JSON; anything else is text."""
    try:
        return msgspec.json.decode({"none": "null"}.get(text, text))
    except msgspec.DecodeError:
        return text


def _lines(path: str) -> list[str]:
    try:
        return [line for line in Path(path).read_text().splitlines() if line]
    except UnicodeDecodeError:
        raise InvalidArgument(f"{path} is not UTF-8") from None
    except OSError as error:
        raise StorageError.of(error, path) from None
