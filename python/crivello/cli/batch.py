"""crivello search --batch: searches every topic of a file, and writes a TREC run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crivello.cli.output import emit, print_json, progress_of, say
from crivello.cli.units import counted
from crivello.errors import InvalidArgument, StorageError

if TYPE_CHECKING:
    from crivello.collection import Collection


def search_batch(collection: Collection, batch: str, run: str, *, top: int, json: bool) -> int:
    """Searches the topics of a file and writes the run; returns the number of topics with results."""
    from crivello.search.runs import lines_of_run
    from crivello.search.topics import hits_of, read_topics

    if json and run == "-":
        raise InvalidArgument(
            "the run and --json would share standard output", hint="name a file: --run FILE"
        )
    topics = read_topics(batch)
    searcher = collection.searcher()
    written, empty = 0, []
    with _written_to(run) as write, progress_of("topics") as progress:
        for done, topic in enumerate(topics, 1):
            lines = list(lines_of_run(topic.id, hits_of(topic, searcher, top=top)))
            for line in lines:
                write(line)
            written += len(lines)
            if not lines:
                empty.append(topic.id)
            if progress is not None:
                progress(done, len(topics))
    if json:
        print_json({"run": run, "topics": len(topics), "lines": written, "nothing_found": empty})
    say(f"{counted(len(topics), 'topic')}, {counted(written, 'result')}")
    if empty:
        say(f"for {len(empty):,} of them nothing was found, so they are not in the run: {_listed(empty)}")
    return len(topics) - len(empty)


def _listed(names: list[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "")


@contextmanager
def _written_to(name: str) -> Iterator[Callable[[str], None]]:
    """A function that writes a line to a file, or to standard output.

    The file is renamed into place when all lines are written: an interrupted run would look complete.
    """
    if name == "-":
        yield emit
        return
    final = Path(name)
    # Existing paths that are not regular files, such as /dev/null, must not be replaced.
    direct = final.exists() and not final.is_file()
    under_way = final if direct else final.with_name(f"{final.name}.tmp")
    try:
        try:
            with under_way.open("w") as file:

                def write(line: str) -> None:
                    file.write(line + "\n")

                yield write
            if not direct:
                under_way.replace(final)
        finally:
            if not direct:
                under_way.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError.of(error, name) from None
