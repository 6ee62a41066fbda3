"""The index of a crawl of Common Crawl, from a real server on the loopback: listed, downloaded, resumed, studied."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import duckdb
import numpy as np
import pytest

from crivello.errors import CrivelloError, InvalidArgument, StorageError
from crivello.filters import signatures
from crivello.lab.duplicates import of_common_crawl
from crivello.lab.duplicates.common_crawl import fetch

CRAWL = "CC-MAIN-2024-42"
LISTED = f"/crawl-data/{CRAWL}/cc-index.paths.gz"


def part_path(number: int) -> str:
    return f"cc-index/collections/{CRAWL}/indexes/cdx-{number:05}.gz"


def url(number: int) -> str:
    return f'https://a.example/{number}?q="x",\u00e8'


def part(numbers: range) -> bytes:
    """A part as Common Crawl has it: members of a few lines each; one line is damaged."""
    lines = [
        f"example,a)/{number} 20241010000000 {json.dumps({'url': url(number), 'mime': 'text/html'})}\n"
        for number in numbers
    ]
    lines.insert(len(lines) // 2, "example,a)/ 20241010000000 {cut off\n")
    return b"".join(gzip.compress("".join(lines[at : at + 30]).encode()) for at in range(0, len(lines), 30))


class Server(ThreadingHTTPServer):
    """Serves files by ranges; ``cut`` is after how many bytes the next answer breaks off."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        names = "\n".join([part_path(0), part_path(1), f"cc-index/collections/{CRAWL}/metadata.yaml"])
        # The second part repeats a half of the first.
        self.files = {
            LISTED: gzip.compress(names.encode()),
            f"/{part_path(0)}": part(range(1000)),
            f"/{part_path(1)}": part(range(500, 1500)),
        }
        self.cut: int | None = None
        self.ranges = True
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append((self.path, wanted))
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.server.ranges else 0
        if start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = len(content)
        if self.server.cut is not None and self.path != LISTED:
            end, self.server.cut = start + self.server.cut, None
        self.wfile.write(content[start:end])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()


def urls_in(file: Path) -> list[tuple[str, str]]:
    with duckdb.connect(str(file), read_only=True) as database:
        return database.execute("SELECT part, url FROM urls").fetchall()


def test_the_urls_of_the_parts_are_in_the_table_in_order(server: Server, tmp_path: Path) -> None:
    file = fetch(CRAWL, tmp_path, parts=2, base_url=server.url)
    first, second = f"{CRAWL}/cdx-00000.gz", f"{CRAWL}/cdx-00001.gz"
    expected = [(first, url(number)) for number in range(1000)]
    expected += [(second, url(number)) for number in range(500, 1500)]
    assert urls_in(file) == expected
    stream = of_common_crawl(file, CRAWL, 2)
    assert (stream.signatures == signatures([address for _, address in expected])).all()
    assert stream.source == of_common_crawl(file, CRAWL, 9).source == f"{CRAWL}, 2 parts of its index"
    alone = of_common_crawl(file, CRAWL, 1)
    assert (len(alone), alone.source) == (1000, f"{CRAWL}, 1 part of its index")
    asked = len(server.asked)
    fetch(CRAWL, tmp_path, parts=2, base_url=server.url)
    assert server.asked[asked:] == [(LISTED, None)], "what is there is not fetched again"


@pytest.mark.parametrize("ranges", [True, False])
def test_a_download_that_broke_off_goes_on(server: Server, tmp_path: Path, ranges: bool) -> None:
    server.cut, server.ranges = 2000, ranges
    with pytest.raises(CrivelloError, match="2,000 of") as broken:
        fetch(CRAWL, tmp_path, base_url=server.url)
    assert "goes on" in (broken.value.hint or "")
    assert (tmp_path / f"{CRAWL}-cdx-00000.gz.part").stat().st_size == 2000
    file = fetch(CRAWL, tmp_path, base_url=server.url)
    assert server.asked[-1] == (f"/{part_path(0)}", "bytes=2000-")
    assert [address for _, address in urls_in(file)] == [url(number) for number in range(1000)]


@pytest.mark.parametrize("more", [0, 1])
def test_a_download_that_lacks_only_its_name_is_not_repeated(
    server: Server, tmp_path: Path, more: int
) -> None:
    path = f"/{part_path(0)}"
    whole = server.files[path]
    (tmp_path / f"{CRAWL}-cdx-00000.gz.part").write_bytes(whole + bytes(more))
    file = fetch(CRAWL, tmp_path, base_url=server.url)
    from_the_start = [(path, None)] if more else []
    assert server.asked[1:] == [(path, f"bytes={len(whole) + more}-"), *from_the_start]
    assert [address for _, address in urls_in(file)] == [url(number) for number in range(1000)]
    assert (tmp_path / f"{CRAWL}-cdx-00000.gz").read_bytes() == whole
    assert not (tmp_path / f"{CRAWL}-cdx-00000.gz.part").exists()


def test_what_is_no_index_is_one_sentence(server: Server, tmp_path: Path) -> None:
    for crawl, base in (("2024", server.url), ("CC-MAIN-../..", server.url), (CRAWL, "ftp://a.example/")):
        with pytest.raises(InvalidArgument):
            fetch(crawl, tmp_path, base_url=base)
    with pytest.raises(CrivelloError, match="answered 404"):
        fetch("CC-MAIN-2024-43", tmp_path, base_url=server.url)
    with pytest.raises(CrivelloError, match="could not reach"):
        fetch(CRAWL, tmp_path, base_url="http://127.0.0.1:9/")
    for listed, said in ((b"no gzip", "not a list"), (gzip.compress(b"/etc/passwd ../cdx-1.gz"), "no parts")):
        server.files[LISTED] = listed
        with pytest.raises(CrivelloError, match=said):
            fetch(CRAWL, tmp_path, base_url=server.url)


def test_a_damaged_part_is_fetched_again(server: Server, tmp_path: Path) -> None:
    whole = server.files[f"/{part_path(0)}"]
    server.files[f"/{part_path(0)}"] = whole[:3000] + bytes(500) + whole[3500:]
    with pytest.raises(StorageError, match="damaged"):
        fetch(CRAWL, tmp_path, base_url=server.url)
    server.files[f"/{part_path(0)}"] = whole
    assert len(urls_in(fetch(CRAWL, tmp_path, base_url=server.url))) == 1000


def test_the_command_studies_a_crawl(server: Server, tmp_path: Path) -> None:
    crivello = Path(sys.executable).parent / "crivello"
    flags = ["--parts", "2", "--cells", "2k,20k", "--k", "2,4", "--into", str(tmp_path / "out"), "--json"]
    command = [str(crivello), "lab", "duplicates", "--common-crawl", CRAWL, *flags]
    environment = {**os.environ, "CRIVELLO_COMMON_CRAWL": server.url}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["elements"], found["distinct"]) == (2000, 1500)
    report = (tmp_path / "out" / "report.md").read_text()
    assert f"{CRAWL}, 2 parts" in report
    rows = [line.split(" | ") for line in report.splitlines() if line.startswith(("| 2 k | 0", "| 20 k | 9"))]
    # K = ln 2 * m / n: 0.92 and 9.24, that is 1 and 9.
    assert [row[2] for row in rows] == ["1", "9"]
    assert float(rows[0][4]) == pytest.approx(float(rows[0][5].rstrip(" |")), abs=0.12)
    refused = subprocess.run(
        [*command, "--elements", "3"], capture_output=True, text=True, timeout=60, env=environment
    )
    assert refused.returncode == 2 and "generated stream" in refused.stderr
    assert np.isfinite(found["best"]["bloom"]["f1"])
