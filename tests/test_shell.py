"""The shell, end to end: the real command in a process of its own, in temporary folders."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from crivello.cli.app import TASKS
from crivello.collection import Collection
from crivello.lab.web import SampleWeb
from crivello.settings import settings_of
from crivello.web import Server
from tests.shell import CRIVELLO, says

QUICK = ("--delay", "0")


def crivello(
    *arguments: str | Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end; a traceback is a failure, whatever else the test looks at."""
    return says(*arguments, environment={**os.environ, **(environment or {})})


def complaint(*arguments: str | Path, code: int) -> str:
    """Runs a command that must fail with one sentence on standard error, and perhaps a hint.

    Between them stand two lines that begin with spaces where a query is pointed into.
    """
    done = crivello(*arguments)
    assert done.returncode == code, done
    assert done.stdout == ""
    first, *rest = done.stderr.strip().splitlines()
    pointing = [line for line in rest if line.startswith("  ")]
    lines = [first, *rest[len(pointing) :]]
    assert pointing == rest[: len(pointing)] and len(pointing) in (0, 2), done.stderr
    assert lines[0].startswith("crivello: ") and len(lines) <= 2, done.stderr
    assert len(lines) == 1 or lines[1].startswith("hint: ")
    return done.stderr


@pytest.fixture(scope="module")
def web() -> Iterator[SampleWeb]:
    with SampleWeb(hosts=8, pages_per_host=10, slow=0.005) as web:
        yield web


@pytest.fixture(scope="module")
def folder(web: SampleWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection that was crawled and indexed by the commands."""
    folder = tmp_path_factory.mktemp("shell") / "collection"
    done = crivello("crawl", *web.seeds, "--into", folder, *QUICK, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["waiting"] == 0 and report["pages"] > len(web.pages)
    assert crivello("index", folder, "--json").returncode == 0
    return folder


def test_the_installed_script_does_what_a_fork_does(folder: Path, tmp_path: Path) -> None:
    """Most tests run their commands by ``tests.shell``."""
    lines = "https://b.example/\nhttps://a.example/\nhttps://b.example/\n"
    for words, given, code in (
        (["--version"], "", 0),
        (["pages", folder, "--json"], "", 0),
        (["search", folder, "xyzzyx"], "", 1),
        (["lab", "url"], lines, 0),
        (["serch"], "", 2),
        (["search", "missing", "x"], "", 3),
    ):
        command = [str(CRIVELLO), *map(str, words)]
        real = subprocess.run(command, input=given, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        forked = says(*words, given=given, folder=tmp_path)
        assert real.returncode == forked.returncode == code, words
        assert (real.stdout, real.stderr) == (forked.stdout, forked.stderr), words


def test_pages_gives_a_line_for_every_url(web: SampleWeb, folder: Path) -> None:
    done = crivello("pages", folder, "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"url", "status", "depth", "content_type", "digest", "fetched_at"} <= set(rows[0])
    urls = [row["url"] for row in rows]
    assert len(urls) == len(set(urls))
    assert web.pages | web.broken | set(web.redirects) <= set(urls)
    assert not web.forbidden & {f"http://{request.host}:{web.port}{request.path}" for request in web.log}


def test_pages_shows_one_page(web: SampleWeb, folder: Path) -> None:
    home = web.seeds[0]
    assert crivello("pages", folder, "--url", home).stdout.strip()
    assert crivello("pages", folder, "--url", home, "--raw").stdout == web.resources[home].body.decode()
    assert json.loads(crivello("pages", folder, "--url", home, "--json").stdout)["status"] == 200
    missing = crivello("pages", folder, "--url", "http://a.example/")
    assert missing.returncode == 1 and "is not in" in missing.stderr


def test_search_gives_json(folder: Path) -> None:
    done = crivello("search", folder, "volcano lava", "--json", "--top", "3")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert set(answer) == {"query", "matches", "exact", "partial", "microseconds", "suggestion", "hits"}
    assert answer["query"] == "volcano lava" and answer["matches"] >= len(answer["hits"]) == 3
    assert [hit["rank"] for hit in answer["hits"]] == [1, 2, 3]
    told = {"rank", "score", "url", "title", "snippet", "id", "site", "language", "kind", "date", "similar",
            "more_from_site"}  # fmt: skip
    assert all(set(hit) == told for hit in answer["hits"])
    assert any("<mark>" in hit["snippet"] for hit in answer["hits"])
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)


def test_search_knows_its_operators(folder: Path) -> None:
    def urls(query: str) -> set[str]:
        found = json.loads(crivello("search", folder, query, "--json", "--top", "1000").stdout)
        return {hit["url"] for hit in found["hits"]}

    lava, ash = urls("lava"), urls("ash")
    assert lava and ash and lava != ash
    assert urls("lava AND ash") == lava & ash
    assert urls("lava OR ash") == urls("lava ash") == lava | ash
    assert urls("lava NOT ash") == urls("lava -ash") == lava - ash
    assert urls('"volcanic ash"') <= ash


def test_nothing_found_is_one(folder: Path) -> None:
    done = crivello("search", folder, "xyzzyx")
    assert done.returncode == 1 and done.stdout == "" and "nothing matches" in done.stderr
    assert json.loads(crivello("search", folder, "xyzzyx", "--json").stdout)["hits"] == []


def test_results_read_well_in_python(folder: Path) -> None:
    code = f"import crivello; c = crivello.Collection({str(folder)!r}); print(c.search('lava'))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert re.match(r"[\d,]+ pages for 'lava' in \d+\.\d ms\n +1\. \S", printed)


def test_rank_lists_the_best_pages(folder: Path, tmp_path: Path) -> None:
    ranked = [
        json.loads(line) for line in crivello("rank", folder, "--json", "--top", "5").stdout.splitlines()
    ]
    assert len(ranked) == 5 and ranked[0]["indegree"] >= ranked[-1]["indegree"] > 0
    edges = tmp_path / "edges.txt"
    edges.write_text("# a small graph\na c\nb c\nc a\n")
    best = crivello("rank", "--graph", edges).stdout.split()
    assert best[0] == "1" and best[2] == "c"
    assert f"crivello rank --graph {edges}" in complaint("rank", edges, code=2)
    edges.write_text("a b\nbroken\n")
    assert "edges.txt:2" in complaint("rank", "--graph", edges, code=2)


def test_an_index_can_be_verified_and_damage_is_named(folder: Path, tmp_path: Path) -> None:
    assert crivello("index", folder, "--verify").returncode == 0
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", folder, copy], check=True)
    [segment] = (copy / "index").iterdir()
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    segment.write_bytes(content)
    assert f"{segment} is damaged at byte" in complaint("index", copy, "--verify", code=3)


def test_crawl_refuses_what_it_cannot_do(web: SampleWeb, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert "is not a collection" in complaint("crawl", *web.seeds, "--into", tmp_path, code=3)
    assert "is not a collection" in complaint("crawl", "--into", tmp_path / "missing", code=3)
    assert "not a URL" in complaint("crawl", "htp:/broken", "--into", tmp_path / "new", code=2)
    assert "does not resolve" in complaint(
        "crawl", "http://no-such.invalid/", "--into", tmp_path / "new", code=3
    )
    assert "--into" in complaint("crawl", *web.seeds, code=2)
    assert "a number of seconds from 0" in complaint(
        "crawl", *web.seeds, "--into", tmp_path / "n", "--delay", "-3", code=2
    )
    assert "is not a collection" in complaint("search", tmp_path / "missing", "x", code=3)
    assert "does not parse" in complaint("search", folder, '"open', code=2)
    nobody = "http://127.0.0.1:1/"
    said = complaint("crawl", nobody, "--into", tmp_path / "new", "--retries", "0", code=3)
    assert "nothing could be fetched: connection refused (1)" in said
    assert crivello("index", tmp_path / "new").returncode == 1
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "notes.txt"]


def test_a_wrong_variable_is_named(folder: Path) -> None:
    done = crivello("search", folder, "lava", environment={"CRIVELLO_SEARCH_K1": "many"})
    assert done.returncode == 2 and "CRIVELLO_SEARCH_K1: 'many' is not allowed" in done.stderr
    done = crivello("search", folder, "lava", environment={"CRIVELLO_SEARCH_KK": "1"})
    assert done.returncode == 2 and "did you mean CRIVELLO_SEARCH_K1?" in done.stderr


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [CRIVELLO, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 30
    while not condition.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.alone
def test_ctrl_c_checkpoints_and_the_crawl_goes_on(web: SampleWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    process = start("crawl", *web.seeds, "--into", folder, "--delay", "0.2", "--checkpoint", "0.1")
    wait_for(folder / "table/rows.log", process)
    time.sleep(1)
    assert "is in use: process" in complaint("crawl", "--into", folder, code=3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=3)
    assert process.returncode == 130
    assert "goes on" in errors and "Traceback" not in errors
    done = crivello("crawl", "--into", folder, *QUICK, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["waiting"] == 0
    rows = [json.loads(line) for line in crivello("pages", folder, "--json").stdout.splitlines()]
    assert web.pages <= {row["url"] for row in rows if row["status"] == 200}


def test_a_full_disk_is_one_sentence_and_loses_nothing(web: SampleWeb, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a small disk to fill")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], check=True)
    try:
        said = complaint("crawl", *web.seeds, "--into", disk / "c", *QUICK, "--checkpoint", "0.1", code=3)
        assert "No space left on device" in said and "the disk is full" in said
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        done = crivello("crawl", *web.seeds, "--into", disk / "c", *QUICK, "--json")
        assert done.returncode == 0 and json.loads(done.stdout)["waiting"] == 0
    finally:
        subprocess.run(["umount", disk], check=True)


def test_up_serves_while_it_crawls(web: SampleWeb, tmp_path: Path) -> None:
    process = start(
        "up", *web.seeds, "--into", tmp_path / "c", "--delay", "0.4", "--port", "0", "--checkpoint", "3600"
    )
    try:
        assert process.stderr is not None
        address = re.search(r"http://\S+", process.stderr.readline())
        assert address
        counts: set[int] = set()
        while len(counts - {0}) < 2:
            with urllib.request.urlopen(f"{address[0]}/api/status", timeout=5) as answer:
                status = json.load(answer)
            assert status["state"] == "crawling"
            counts.add(status["pages"])
            time.sleep(0.1)
        with urllib.request.urlopen(f"{address[0]}/api/search?q=lava", timeout=5) as answer:
            assert json.load(answer)["matches"] > 0
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=15)
    assert process.returncode == 130 and "Traceback" not in errors


def test_up_lets_go_when_the_crawl_has_ended(web: SampleWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    process = start("up", *web.seeds, "--into", folder, *QUICK, "--port", "0", "--max-pages", "5")
    try:
        assert process.stderr is not None
        told = iter(process.stderr.readline, "")
        address = next(found[1] for line in told if (found := re.search(r"still serving (\S+)", line)))
        with urllib.request.urlopen(f"{address}/api/status", timeout=5) as answer:
            status = json.load(answer)
        assert status["state"] == "ready" and status["pages"] > 0
        with urllib.request.urlopen(address, timeout=5) as answer:
            assert "Still crawling" not in answer.read().decode()
        before = status["pages"]
        assert crivello("crawl", "--into", folder, *QUICK, "--max-pages", "5").returncode == 0
        assert crivello("index", folder).returncode == 0
        with urllib.request.urlopen(f"{address}/api/status", timeout=5) as answer:
            assert json.load(answer)["pages"] > before
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=15)
    assert process.returncode == 130 and "Traceback" not in errors and "goes on" not in errors


def test_serve_answers_until_ctrl_c(folder: Path) -> None:
    process = start("serve", folder, "--port", "0")
    assert process.stderr is not None
    address = re.search(r"http://\S+", process.stderr.readline())
    assert address
    with urllib.request.urlopen(f"{address[0]}/health", timeout=5) as answer:
        assert json.load(answer)["status"] == "ok"
    with urllib.request.urlopen(f"{address[0]}/search?q=lava", timeout=5) as answer:
        assert "<mark>" in answer.read().decode()
    port = address[0].rsplit(":", 1)[1]
    assert "the port is taken" in complaint("serve", folder, "--port", port, code=3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 0


def test_lab_web_prints_where_to_start(tmp_path: Path) -> None:
    process = start(
        "lab", "web", "--hosts", "3", "--pages-per-host", "4", "--log", tmp_path / "log.jsonl", "--json"
    )
    assert process.stdout is not None
    described = json.loads(process.stdout.readline())
    with urllib.request.urlopen(described["seeds"][0], timeout=5) as answer:
        assert answer.status == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 130
    assert json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])["path"] == "/"


def test_help_version_and_doctor() -> None:
    assert re.fullmatch(r"crivello \d+\.\d+\.\d+\n", crivello("--version").stdout)
    shown = crivello("--help").stdout
    verbs = [verb for task in TASKS.values() for verb in task]
    assert all(f"$ crivello {verb}" in shown for verb in verbs)
    for verb in verbs:
        assert "Example" in crivello(verb, "--help").stdout or verb in ("lab", "cluster"), verb
    doctor = crivello("doctor")
    assert doctor.returncode == 0 and "native core: works" in doctor.stdout
    assert "no such command 'fly'" in complaint("fly", code=2)
    assert "--delay" in complaint("crawl", "--delayy", "3", code=2)
    assert "quote" in complaint("search", "x", "lens", "-keeper", code=2)
    for flag, value, allowed in (
        ("--top", "abc", "a whole number from 1 to 1,000"),
        ("--top", "0", "a whole number from 1 to 1,000"),
        ("--offset", "1.5", "a whole number from 0"),
    ):
        said = complaint("search", "x", "lens", flag, value, code=2)
        assert f"{flag}: '{value}' is not allowed" in said and f"it must be {allowed}" in said
    assert "crivello: N: 'many' is not allowed" in complaint("cluster", "scale", "x", "many", code=2)
    assert "missing argument" in complaint("search", code=2)
    assert crivello().stdout == crivello("--help").stdout
    for shell in ("bash", "zsh", "fish"):
        assert "crivello" in crivello("--show-completion", shell).stdout, shell


def test_help_shows_settings_in_groups() -> None:
    shown = crivello("crawl", "--help").stdout
    headings = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
    groups = [setting.group for section in ("crawl", "cluster") for setting in settings_of(section)]
    assert headings == ["Arguments", "Options", *dict.fromkeys(groups)]
    for setting in settings_of("crawl"):
        heading = re.split(r"^(\S.*):$", shown.partition(f"\n  {setting.flag} ")[0], flags=re.MULTILINE)[-2]
        assert heading == setting.group, setting.flag


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    command = f"set -o pipefail; {CRIVELLO} pages {folder} --json | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1 and done.stderr == ""


def imports_of(code: str) -> set[str]:
    listing = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True
    ).stderr
    return {line.rsplit("|", 1)[1].strip() for line in listing.splitlines() if "|" in line}


def test_importing_and_help_load_nothing_heavy() -> None:
    heavy = {
        "uvicorn",
        "starlette",
        "rich.console",
        "numpy",
        "jinja2",
        "fastwarc",
        "duckdb",
        "matplotlib",
    }
    assert not heavy & imports_of("import crivello")
    assert "crivello._core" not in imports_of("import crivello")
    assert not heavy & imports_of("from crivello.cli.app import application; application()")


def test_a_second_run_says_what_is_new(web: SampleWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    first = json.loads(crivello("crawl", *web.seeds, "--into", folder, *QUICK, "--json").stdout)
    assert first["run"]["pages"] == first["pages"] > 0 and first["run"]["statuses"] == first["statuses"]
    second = json.loads(crivello("crawl", "--into", folder, *QUICK, "--json").stdout)
    assert (second["run"]["pages"], second["pages"]) == (0, first["pages"])
    assert second["run"]["outcomes"] == {} and second["run"]["seconds"] < second["seconds"]
    said = crivello("crawl", "--into", folder, *QUICK).stderr
    assert re.search(rf"this run +in all *\npages fetched +0 +{first['pages']} ", said)
    assert "nothing new was fetched" in said


def test_what_is_crawled_and_not_indexed_is_said(web: SampleWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    hint = f"are crawled and not indexed yet\nhint: crivello index {folder}\n"
    crivello("crawl", *web.seeds, "--into", folder, *QUICK, "--max-pages", "20")
    for flags in ((), ("--json",)):
        done = crivello("search", folder, "lava", *flags)
        assert done.returncode == 1 and done.stderr.endswith(f"the pages of {folder} {hint}")
    with Server(Collection(folder)) as server:
        for path in ("/", "/search?q=lava"):
            with urllib.request.urlopen(server.url + path, timeout=5) as answer:
                page = answer.read().decode()
            assert "crawled, and not indexed yet" in page and "crivello index c" in page
        with urllib.request.urlopen(f"{server.url}/api/status", timeout=5) as answer:
            assert json.load(answer)["state"] == "not indexed"
        crivello("index", folder)
        with urllib.request.urlopen(f"{server.url}/search?q=the", timeout=5) as answer:
            assert "not indexed yet" not in answer.read().decode()
    assert crivello("search", folder, "the").stderr.count("\n") == 1
    crivello("crawl", "--into", folder, *QUICK)
    assert crivello("search", folder, "the").stderr.endswith(f"the newest pages of {folder} {hint}")


def test_seeds_come_from_a_file(web: SampleWeb, tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text("# where to start\n\n" + "\n".join(web.seeds[:2]) + "\n")
    folder = tmp_path / "c"
    done = crivello("crawl", "--seeds", file, "--into", folder, "--max-depth", "1", "--json", *QUICK)
    assert json.loads(done.stdout)["pages"] > 2
    file.write_text("# none\n")
    assert "there is no URL in" in complaint("crawl", "--seeds", file, "--into", tmp_path / "d", code=2)
    assert "No such file" in complaint("crawl", "--seeds", tmp_path / "no", "--into", tmp_path / "d", code=3)
