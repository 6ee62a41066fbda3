"""A recording of the first five minutes in the shell, as a drawing that moves: ``python -m docs.recording`` writes it.

The commands run against the sample web, and what they print is what is shown; only the time that they take is
shortened. The result is one SVG without scripts: lines appear and scroll by CSS animations, once, and the colours are
those of the reader's theme.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path

from crivello.lab.web import SampleWeb

IMAGE = Path(__file__).parent / "images" / "recording.svg"
PORT = 8090
COMMANDS = (
    "crivello crawl http://127.0.0.11:8090/ --into sample --scope any --delay 0.05",
    "crivello why sample http://127.0.0.11:8090/private/ledger.html",
    "crivello index sample",
    """crivello search sample '"fresnel lens" lighthouse' --top 2""",
    """crivello search sample 'title:(lens OR lamp) "flame miles"~9 -keeper' --top 2""",
    "crivello search sample 'lihgthouse' --top 1",
    "crivello rank sample --top 5",
    "crivello doctor sample",
)
BEFORE = "# in another terminal: crivello lab web --port 8090"
LAST = "crivello serve sample"
_COLUMNS, _ROWS = 96, 26
_WIDTH, _HEIGHT = 7.8, 18  # of a character, in pixels
_MARGIN, _TOP = 16, 34
_TYPED, _PRINTED = 0.05, 0.06  # seconds for a character, and for a line
_READ, _READ_LINE = 3.0, 0.3  # seconds to read what was printed
_LONGEST = 2.5
_STYLE = """\
:root{--paper:#fbfaf7;--ink:#24292f;--quiet:#626a67;--accent:#0b6a5c;--line:#d8d5cc}
@media (prefers-color-scheme:dark){:root{--paper:#151918;--ink:#e6e6e1;--quiet:#9aa39f;--accent:#6fd1bd;--line:#303735}}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--ink);white-space:pre}
.t{fill:var(--quiet)}.c{font-weight:600}.p{fill:var(--accent)}.paper{fill:var(--paper)}
.w{fill:var(--paper);stroke:var(--line)}
@keyframes in{to{visibility:visible}}
@keyframes type{to{transform:translateX(var(--w))}}
.l{visibility:hidden;animation:in 0s linear forwards}
.k{animation:type linear forwards}
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command, what it printed, and how long it took."""

    command: str
    lines: list[str]
    seconds: float


def record() -> list[Ran]:
    """Runs the commands."""
    with tempfile.TemporaryDirectory() as folder, SampleWeb(slow=0) as web:
        return [*(_run(command, folder, web.port) for command in COMMANDS), _serve(folder)]


def _run(command: str, folder: str, port: int) -> Ran:
    words = shlex.split(command.replace(f":{PORT}", f":{port}"))
    done = subprocess.run(
        [str(_program()), *words[1:]],
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.exit(f"recording: {command}: {done.stdout}")
    shown = done.stdout.replace(f":{port}", f":{PORT}")
    return Ran(command, shown.rstrip().splitlines(), _LONGEST if "crawl" in command else 0.4)


def _serve(folder: str) -> Ran:
    """The last command does not end by itself: its first line is taken."""
    process = subprocess.Popen(
        [str(_program()), *LAST.split()[1:], "--port", "0"],
        cwd=folder, env=_environment(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        said = process.stderr.readline().strip()
    finally:
        process.terminate()
        process.communicate()
    address = next(word for word in said.split() if word.startswith("http"))
    return Ran(LAST, [said.replace(address, "http://127.0.0.1:8080")], 0.4)


def _program() -> Path:
    return Path(sys.executable).with_name("crivello")


def _environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": str(_COLUMNS), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}


def drawn(session: list[Ran]) -> str:
    """The session as an SVG."""
    parts: list[str] = []
    scrolls: list[tuple[float, int]] = []
    time, row = 0.5, 0

    def put(text: str, at: float, kind: str = "") -> None:
        nonlocal row
        y = _TOP + row * _HEIGHT + 13
        parts.append(
            f'<g class="l" style="animation-delay:{at:.2f}s"><text x="{_MARGIN}" y="{y}"{kind}>{text}</text></g>'
        )
        row += 1
        if row > _ROWS:
            scrolls.append((at, row - _ROWS))

    put(f'<tspan class="t">{escape(BEFORE)}</tspan>', time)
    time += 1.5
    for ran in session:
        length = len(ran.command)
        put(f'<tspan class="p">$</tspan> <tspan class="c">{escape(ran.command)}</tspan>', time)
        y = _TOP + (row - 1) * _HEIGHT
        # What is not typed yet is covered; the cover moves on by one character at a time.
        parts.append(
            f'<rect class="k paper" x="{_MARGIN + 2 * _WIDTH:.1f}" y="{y}" width="{length * _WIDTH + 8:.0f}" height="{_HEIGHT}" '
            f'style="--w:{length * _WIDTH + 8:.0f}px;animation-duration:{length * _TYPED:.2f}s;animation-delay:{time:.2f}s;'
            f'animation-timing-function:steps({length})"/>'
        )
        time += length * _TYPED + ran.seconds
        for line in ran.lines:
            cut = line if len(line) <= _COLUMNS else f"{line[: _COLUMNS - 1]}…"
            put(escape(cut.rstrip()), time)
            time += _PRINTED
        time += _READ + _READ_LINE * len(ran.lines)
        put("", time)
    width = round(_COLUMNS * _WIDTH + 2 * _MARGIN)
    height = _TOP + _ROWS * _HEIGHT + 12
    frames = "".join(
        f"{100 * at / time:.2f}%{{transform:translateY({-_HEIGHT * lines}px)}}" for at, lines in scrolls
    )
    style = f"{_STYLE}@keyframes scroll{{{frames}to{{transform:translateY({-_HEIGHT * max(0, row - _ROWS)}px)}}}}\n"
    style += f".s{{animation:scroll {time:.1f}s step-end forwards}}\n"
    dots = "".join(
        f'<circle cx="{18 + 16 * place}" cy="16" r="4.5" fill="var(--line)"/>' for place in range(3)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="A session in the shell: a crawl of the sample web, its index, searches, ranks, and the server">\n'
        f"<style>\n{style}</style>\n"
        f'<rect class="w" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10"/>{dots}\n'
        f'<clipPath id="window"><rect x="2" y="{_TOP}" width="{width - 4}" height="{_ROWS * _HEIGHT}"/></clipPath>\n'
        f'<g clip-path="url(#window)"><g class="s">\n' + "\n".join(parts) + "\n</g></g>\n</svg>\n"
    )


def main() -> int:
    IMAGE.write_text(drawn(record()))
    print(f"wrote {IMAGE.relative_to(IMAGE.parents[2])}, {IMAGE.stat().st_size:,} bytes", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
