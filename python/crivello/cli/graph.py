"""crivello graph: describes, converts and draws a graph."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crivello.cli import NOTHING
from crivello.cli.graphs import computed, graph_at, measures_of, watching
from crivello.cli.options import Json, size
from crivello.cli.output import emit, print_columns, print_json, say
from crivello.cli.units import counted, duration, volume

if TYPE_CHECKING:
    from crivello.graph.draw import Drawing
    from crivello.graph.graph import Graph
    from crivello.graph.info import Info

app: typer.Typer = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="""Describe, convert and draw a graph: of a collection, or of a file in any of the usual forms.

    \b
    Examples:
      crivello graph info example
      crivello graph convert edges.txt.gz web.graph
      crivello graph draw example --out hosts.svg
    """,
)

Source = Annotated[
    str,
    typer.Argument(metavar="DIR|FILE", help="a collection's folder, or a graph", show_default=False),
]


@app.callback()
def options() -> None:
    """Describe, convert and draw a graph."""


@app.command("info")
def info(
    source: Source,
    top: Annotated[
        int, typer.Option("--top", min=1, metavar="N", help="how many nodes and hosts to list")
    ] = 5,
    json: Json = False,
) -> None:
    """Describe a graph: size, bits per link, degrees, reciprocity, components, hosts.

    \b
    Examples:
      crivello graph info example
      crivello graph info edges.txt.gz --json
    """
    from crivello.graph.files import form_of
    from crivello.graph.info import describe

    form = "collection" if Path(source).is_dir() else form_of(source)
    graph = graph_at(source)
    with watching("describing") as progress:
        found = describe(graph.showing(progress), largest=top)
    bytes_of_file = _length(Path(source))
    if json:
        print_json({"source": source, "form": form, "bytes": bytes_of_file, **found.to_dict()})
    else:
        print_columns([("form", form), *_rows(found, bytes_of_file)])
        for table in _lists(found):
            emit("")
            print_columns(table)
    if not found.nodes:
        raise typer.Exit(NOTHING)


def _length(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def _rows(found: Info, length: int | None) -> Iterator[tuple[str, ...]]:
    def of(part: int, whole: int) -> tuple[str, str]:
        return f"{part:,}", f"{part / whole:.1%}" if whole else ""

    if length is not None:
        yield "file", volume(length)
    yield "nodes", f"{found.nodes:,}"
    yield "arcs", f"{found.arcs:,}"
    if found.bits_per_link is not None:
        yield "bits per link", f"{found.bits_per_link:.2f}"
    yield "self-loops", f"{found.loops:,}"
    yield "reciprocity", f"{found.reciprocity:.1%}"
    yield "without links (dangling)", *of(found.dangling, found.nodes)
    yield "without links to them", *of(found.sources, found.nodes)
    yield "without either", *of(found.isolated, found.nodes)
    yield "weak components", f"{found.weak_components:,}"
    yield "  nodes of the largest", *of(found.largest_weak_component, found.nodes)
    yield "strong components", f"{found.strong_components:,}"
    yield "  nodes of the largest", *of(found.largest_strong_component, found.nodes)
    for place, count in found.bow_tie.items():
        yield f"bow-tie: {place}", *of(count, found.nodes)
    for name, degrees in (("indegree", found.indegree), ("outdegree", found.outdegree)):
        yield f"{name}, mean", f"{degrees.mean:.2f}"
        yield f"{name}, median", f"{degrees.median:g}"


def _lists(found: Info) -> Iterator[list[tuple[str, ...]]]:
    """The nodes with the largest degrees, and the hosts with the most pages."""
    for name, degrees in (("indegree", found.indegree), ("outdegree", found.outdegree)):
        yield [(f"largest {name}", ""), *((node, f"{degree:,}") for node, degree in degrees.nodes)]
    if found.hosts:
        counts = [
            (host.name, *(f"{count:,}" for count in (host.pages, host.within, host.incoming, host.outgoing)))
            for host in found.hosts
        ]
        yield [
            (f"of {found.all_hosts:,} hosts", "pages", "links within", "from others", "to others"),
            *counts,
        ]


@app.command("convert")
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="a graph in any form", show_default=False)],
    target: Annotated[str, typer.Argument(metavar="OUT", help="the new file", show_default=False)],
    form: Annotated[
        str,
        typer.Option(
            "--form", metavar="FORM", help="the form of OUT; default: by its extension", show_default=False
        ),
    ] = "",
    count: Annotated[
        bool, typer.Option("--count", help="keep the number of parallel arcs as their weight")
    ] = False,
    memory: Annotated[
        str, typer.Option("--memory", metavar="SIZE", help="memory for sorting the arcs of a text")
    ] = "1G",
    json: Json = False,
) -> None:
    """Convert a graph from one form to another, by the extension of the new file or by --form.

    Arcs are sorted within the given memory, and never all in memory, except for METIS.

    \b
    Examples:
      crivello graph convert edges.txt.gz edges.csv --memory 512M
      crivello graph convert edges.txt edges.metis.gz --json
    """
    from crivello.graph.files import convert as converted

    allowed = size(memory, "--memory")
    with watching("converting") as progress:
        made = converted(
            source, target, target_form=form or None, count=count, memory=allowed, progress=progress
        )
    if json:
        print_json(
            {
                "nodes": made.nodes,
                "arcs": made.arcs,
                "bytes": made.bytes,
                "bits_per_link": made.bits_per_link,
                "seconds": made.seconds,
            }
        )
        return
    say(
        f"wrote {counted(made.nodes, 'node')} and {counted(made.arcs, 'arc')} to {target}: {volume(made.bytes)}, "
        f"{made.bits_per_link:.2f} bits a link, in {duration(made.seconds)}"
    )


@app.command("draw")
def draw(
    source: Source,
    node: Annotated[
        str,
        typer.Argument(
            metavar="[HOST|URL|NODE]", help="draw what is around it; default: the hosts", show_default=False
        ),
    ] = "",
    out: Annotated[
        str,
        typer.Option(
            "--out", metavar="FILE", help="an SVG file; default: standard output", show_default=False
        ),
    ] = "",
    radius: Annotated[
        int, typer.Option("--radius", min=1, max=9, metavar="N", help="how many arcs away, either way")
    ] = 1,
    nodes: Annotated[
        int,
        typer.Option(
            "--nodes", min=2, max=200, metavar="N", help="maximum number of nodes, the most important first"
        ),
    ] = 200,
    measure: Annotated[
        str, typer.Option("--measure", metavar="M", help="what the area of a node shows")
    ] = "pagerank",
) -> None:
    """Draw the neighbourhood of a page, a host or a node, or the graph of the hosts, as SVG.

    Without a node: the hosts of a crawl and the links between them; of another graph, its most important nodes.

    \b
    Examples:
      crivello graph draw example --out hosts.svg
      crivello graph draw example https://www.example.org/ --radius 2 --out around.svg
      crivello graph draw edges.txt 42 > around.svg
    """
    from crivello.graph.draw import draw_most_important, draw_neighbourhood
    from crivello.graph.draw.labels import is_url
    from crivello.graph.table import replacing

    [chosen] = measures_of(measure)
    graph = graph_at(source)
    if not graph.nodes:
        say("the graph has no nodes")
        raise typer.Exit(NOTHING)
    pages = graph.names is not None and is_url(graph.name(0))
    if pages and "://" not in node:
        graph = graph.collapse("host")
    scores = computed(graph, chosen, {}, told=False)
    if node:
        drawing = draw_neighbourhood(graph, _found(graph, node), scores, radius=radius, limit=nodes)
    else:
        what = "hosts" if pages else "most important nodes"
        title = f"The {what} of {Path(source).resolve().name}"
        drawing = draw_most_important(graph, scores, title=title, limit=nodes)
    if out:
        with replacing(Path(out)) as new:
            new.write_text(str(drawing), encoding="utf-8")
        say(f"drew {counted(len(drawing.discs), 'node')} to {out}")
    else:
        _print(drawing)


def _print(drawing: Drawing) -> None:
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    emit(str(drawing).rstrip())


def _found(graph: Graph, name: str) -> int:
    """The node with a name; a URL need not be canonical."""
    from crivello import _core
    from crivello.errors import InvalidArgument

    [canonical] = _core.canonical_urls([name]) if "://" in name else [None]
    try:
        return graph.node(name)
    except InvalidArgument:
        if canonical is None or canonical == name:
            raise
        return graph.node(canonical)
