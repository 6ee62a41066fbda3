"""A disk that is full while a crawl begins: one clear error, and the same command goes on when there is room."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crivello import Collection
from tests.crawling import command
from tests.small_web import SmallWeb, links

PATHS = [f"/{number}" for number in range(40)]


@pytest.fixture
def resize(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes a file system of a size, or gives it another; needs the right to mount."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount(*flags: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["mount", *flags, str(disk)], capture_output=True, text=True)

    made = mount("-t", "tmpfs", "-o", "size=4k", "tmpfs")
    if made.returncode:
        pytest.skip(f"no small disk can be mounted here: {made.stderr.strip()}")

    def change(size: str) -> Path:
        assert mount("-o", f"remount,size={size}").returncode == 0
        return disk

    try:
        yield change
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize(
    ("size", "knows_its_seeds"),
    [("4k", False), ("12k", False), ("16k", False), ("64k", True), ("256k", True)],
)
def test_a_crawl_goes_on_after_a_full_disk(
    size: str, knows_its_seeds: bool, resize: Callable[[str], Path], tmp_path: Path
) -> None:
    noise = random.Random(12)
    pages = {path: f"<title>{path}</title><p>{noise.randbytes(12_000).hex()}" for path in PATHS}
    with SmallWeb({"a.test": {"/": links(*PATHS), **pages}}) as web:
        hosts = web.write_hosts_file(tmp_path / "hosts")
        folder = resize(size) / "c"
        flags = ("--delay", "0", "--hosts-file", str(hosts), "--checkpoint", "60")
        seeds = [web.url("a.test")]
        full = subprocess.run(command(folder, seeds, *flags), capture_output=True, text=True, timeout=60)
        assert full.returncode == 3, full.stderr
        assert "No space left on device\nhint: the disk is full" in full.stderr
        assert "bug" not in full.stderr and "Traceback" not in full.stderr
        resize("64m")
        again = subprocess.run(
            command(folder, [] if knows_its_seeds else seeds, *flags),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert again.returncode == 0, again.stderr
        fetched = sorted(row.title for row in Collection(folder).pages() if row.status == 200)
        assert fetched == sorted(["", *PATHS])
