"""The programs in Rust that the benchmarks of the store run: that of the core, and that of other engines."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def store() -> Path:
    """Builds ``crates/core/benches/store.rs``."""
    return _built(["-p", "crivello-core", "--bench", "store"], ROOT)


@cache
def peers() -> Path:
    """Builds ``bench/peers``."""
    return _built([], ROOT / "bench" / "peers")


@cache
def originals() -> Path:
    """Builds ``crates/core/benches/originals.rs``."""
    return _built(["-p", "crivello-core", "--bench", "originals"], ROOT)


def write_pages(folder: Path, pages: int) -> None:
    """Writes a collection of synthetic pages through the page store."""
    subprocess.run([store(), "pages", folder, str(pages)], check=True, stdout=subprocess.DEVNULL)


def _built(arguments: list[str], folder: Path) -> Path:
    command = ["cargo", "build", "--release", "--quiet", "--message-format", "json", *arguments]
    built = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return next(Path(message["executable"]) for message in messages if message.get("executable"))
