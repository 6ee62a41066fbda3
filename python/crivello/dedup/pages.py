"""The report of a deduplication as Markdown and as HTML: counts, sizes of clusters, similarities, and pairs side by side."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

from crivello.archives.output import new_file
from crivello.dedup.report import BINS, Example, Report
from crivello.errors import InvalidArgument, StorageError
from crivello.store.difference import changed_words

_SHOWN_CHARACTERS = 4000
# What is shown before the first difference of long texts.
_AROUND = 500
_SHOWN_SIZES = 20
_WIDTH, _HEIGHT, _BAR = 640, 220, 28
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem; border-bottom: 1px solid #ddd; text-align: right; }
td:first-child, th:first-child { text-align: left; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; } .pair > div { white-space: pre-wrap; overflow-wrap: anywhere; }
del { background: #fdd; } ins { background: #dfd; text-decoration: none; } rect { fill: #4878a8; } text { font-size: 10px; }
"""


def check_name(target: str) -> None:
    """Raises ``InvalidArgument`` if this is no name for a report."""
    path = Path(target)
    is_name = path.suffix in (".md", ".html") or path.is_dir() or (not path.suffix and not path.exists())
    if not is_name:
        raise InvalidArgument(
            f"{target} is no name for a report", hint="let it end in .md or .html, or name a folder"
        )


def write_report(report: Report, target: str) -> None:
    """Writes a file that ends in .md or .html, or a folder with both."""
    path = Path(target)
    if path.suffix in (".md", ".html") and not path.is_dir():
        pages = {path: _markdown(report, "") if path.suffix == ".md" else _page(report)}
    else:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError.of(error, path) from None
        pages = {
            path / "report.md": _markdown(report, "similarities.svg"),
            path / "report.html": _page(report),
            path / "similarities.svg": _histogram(report.similarities),
        }
    for file, text in pages.items():
        with new_file(file) as out:
            out.write(text.encode(errors="replace"))


def _markdown(report: Report, picture: str) -> str:
    return "\n".join(_markdown_lines(report, picture)) + "\n"


def _markdown_lines(report: Report, picture: str) -> Iterator[str]:
    yield "# Duplicates"
    yield f"\n| {report.method} | |\n| --- | ---: |"
    yield from (f"| {name.strip()} | {value} |" for name, value in report._figures())
    yield "\n## Sizes of clusters\n\n| members | clusters |\n| ---: | ---: |"
    yield from (f"| {size} | {count} |" for size, count in _sizes(report))
    yield "\n## Similarities of pairs\n"
    if picture:
        yield f"![similarities of pairs]({picture})\n"
    yield "| from | to | pairs |\n| ---: | ---: | ---: |"
    yield from (
        f"| {place / BINS:.2f} | {(place + 1) / BINS:.2f} | {count:,} |"
        for place, count in enumerate(report.similarities)
        if count
    )
    if report.examples:
        yield "\n## Examples\n\nOnly in the first: ~~struck out~~. Only in the second: **bold**."
    for example in report.examples:
        yield f"\n### {_plain(example.kept)} and {_plain(example.dropped)}: {example.similarity:.3f}\n"
        yield "".join(_marked(example))


def _marked(example: Example) -> Iterator[str]:
    marks = {"same": "", "deleted": "~~", "inserted": "**"}
    for kind, text in changed_words(*_shown(example)):
        mark = marks[kind]
        for line in _plain(text).splitlines(keepends=True):
            words = line.strip()
            yield line.replace(words, f"{mark}{words}{mark}", 1) if words and mark else line


def _plain(text: str) -> str:
    """A text whose characters mean nothing in Markdown."""
    return "".join(f"\\{one}" if one in "\\`*_{}[]<>()#+!|~" else one for one in text)


def _page(report: Report) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(name.strip())}<td>{html.escape(value)}" for name, value in report._figures()
    )
    sizes = "".join(f"<tr><td>{size}<td>{count}" for size, count in _sizes(report))
    examples = "".join(map(_side_by_side, report.examples))
    return (
        f'<!doctype html><meta charset="utf-8"><title>Duplicates</title><style>{_STYLE}</style>'
        f"<h1>Duplicates</h1><p>method: {html.escape(report.method)}<table>{rows}</table>"
        f"<h2>Sizes of clusters</h2><table><tr><th>members<th>clusters{sizes}</table>"
        f"<h2>Similarities of pairs</h2>{_histogram(report.similarities)}"
        f"{'<h2>Examples</h2>' if examples else ''}{examples}\n"
    )


def _side_by_side(example: Example) -> str:
    old: list[str] = []
    new: list[str] = []
    for kind, text in changed_words(*_shown(example)):
        safe = html.escape(text)
        if kind != "inserted":
            old.append(f"<del>{safe}</del>" if kind == "deleted" else safe)
        if kind != "deleted":
            new.append(f"<ins>{safe}</ins>" if kind == "inserted" else safe)
    titles = f"{html.escape(example.kept)} and {html.escape(example.dropped)}"
    return (
        f"<h3>{titles}: {example.similarity:.3f}</h3>"
        f'<div class="pair"><div>{"".join(old)}</div><div>{"".join(new)}</div></div>'
    )


def _histogram(counts: list[int]) -> str:
    """A bar for each step of similarity."""
    highest = max([*counts, 1])
    bars = []
    for place, count in enumerate(counts):
        height, left = count / highest * (_HEIGHT - 50), 40 + place * _BAR
        bars.append(
            f'<rect x="{left}" y="{_HEIGHT - 30 - height:.1f}" width="{_BAR - 4}" height="{height:.1f}">'
            f"<title>{place / BINS:.2f} to {(place + 1) / BINS:.2f}: {count:,}</title></rect>"
            f'<text x="{left}" y="{_HEIGHT - 15}">{place / BINS:.2f}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" '
        f'aria-label="similarities of pairs">{"".join(bars)}<text x="2" y="20">{highest:,}</text></svg>'
    )


def _sizes(report: Report) -> Iterator[tuple[str, str]]:
    sizes = sorted(report.sizes.items())
    for size, count in sizes[:_SHOWN_SIZES]:
        yield f"{size:,}", f"{count:,}"
    if rest := sizes[_SHOWN_SIZES:]:
        yield f"{rest[0][0]:,} to {rest[-1][0]:,}", f"{sum(count for _, count in rest):,}"


def _shown(example: Example) -> tuple[str, str]:
    """Both texts, or of long ones what is around the first difference."""
    texts = example.kept_text, example.dropped_text
    start = 0
    if max(map(len, texts)) > _SHOWN_CHARACTERS:
        different = (place for place, (one, other) in enumerate(zip(*texts, strict=False)) if one != other)
        same = next(different, min(map(len, texts)))
        start = 0 if same < _SHOWN_CHARACTERS - _AROUND else texts[0].rfind(" ", 0, same - _AROUND) + 1
    one, other = (_cut(text, start) for text in texts)
    return one, other


def _cut(text: str, start: int) -> str:
    end = start + _SHOWN_CHARACTERS
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"
