"""What an operator needs of the server: metrics, health, logs, users, TLS, proxies, workers, the service."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

import crivello
from crivello.errors import InvalidSetting, StorageError
from crivello.service import Service
from crivello.settings import Serve
from crivello.web import Doors, Server
from crivello.web.auth import line_of, read_users
from tests.memory_engine import MemoryEngine, Page

ROOT = Path(__file__).parents[1]
CRIVELLO = Path(sys.executable).with_name("crivello")
PAGES = [Page(f"https://a.example/{number}", f"Lens {number}", "A lens bends light.") for number in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of documents."""
    path = tmp_path_factory.mktemp("operate") / "lenses"
    with crivello.create(path) as collection:
        collection.add(_documents(200), progress=False)
    return path


def _documents(count: int) -> list[dict[str, Any]]:
    return [
        {"url": f"https://a.example/{number}", "title": f"Lens {number}", "body": "A lens bends light."}
        for number in range(count)
    ]


@contextmanager
def served(settings: Serve | None = None, engine: MemoryEngine | None = None) -> Iterator[httpx.Client]:
    with (
        Server(engine or MemoryEngine(PAGES), settings=settings) as server,
        httpx.Client(base_url=server.url, verify=False) as client,
    ):
        yield client


@contextmanager
def running(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """``crivello serve`` in a process of its own: the process, its URL, and what it logs."""
    command = [CRIVELLO, "serve", *arguments, "--port", "0"]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        logged: list[str] = []
        try:
            address = None
            while address is None:
                line = process.stderr.readline()
                assert line, logged
                logged.append(line)
                address = re.search(r"https?://\S+", line) if line.startswith("searching") else None
            threading.Thread(target=lambda: logged.extend(process.stderr or ()), daemon=True).start()
            yield process, address[0], logged
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def value(families: dict[str, Any], name: str, **labels: str) -> float:
    [found] = [
        sample.value
        for family in families.values()
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    ]
    return float(found)


@pytest.mark.parametrize(
    ("accept", "media_type", "parse"),
    [
        ("*/*", "text/plain; version=0.0.4; charset=utf-8", prometheus),
        (
            "application/openmetrics-text; version=1.0.0",
            "application/openmetrics-text; version=1.0.0",
            open_metrics,
        ),
    ],
)
def test_metrics_parse_in_both_formats(folder: Path, accept: str, media_type: str, parse: Any) -> None:
    with (
        Server(crivello.open(folder)) as server,
        httpx.Client(base_url=server.url, headers={"Accept": accept}) as client,
    ):
        before = {one.name: one for one in parse(client.get("/metrics").text)}
        for _ in range(3):
            assert client.get("/api/search", params={"q": "lens"}).status_code == 200
        searched = {one.name: one for one in parse(client.get("/metrics").text)}
        assert client.get("/nowhere").status_code == 404
        response = client.get("/metrics")
        assert response.headers["content-type"].startswith(media_type)
        after = {one.name: one for one in parse(response.text)}
    asked = {"route": "/api/search", "method": "GET", "status": "200"}
    assert value(after, "crivello_http_requests_total", **asked) == 3
    assert value(after, "crivello_http_requests_total", route="other", method="GET", status="404") == 1
    assert value(after, "crivello_http_request_duration_seconds_count", route="/api/search") == 3
    searches = "crivello_search_duration_seconds_count"
    # The page of an error searches for examples, too.
    assert value(searched, searches) - value(before, searches) == 3
    assert value(after, "crivello_index_documents") == 200 and value(after, "crivello_up") == 1
    assert value(after, "crivello_collection_bytes", part="index") > 0
    if Path("/proc/self/stat").exists():
        assert value(after, "process_resident_memory_bytes") > 10e6
    buckets = [
        sample.value
        for sample in after["crivello_search_duration_seconds"].samples
        if sample.name.endswith("_bucket")
    ]
    assert buckets == sorted(buckets) and buckets[-1] == value(after, searches)


def test_metrics_of_a_crawl_are_those_of_its_report(tmp_path: Path) -> None:
    from crivello.lab.web import SampleWeb

    with (
        SampleWeb(hosts=3, pages_per_host=6, slow=0) as web,
        crivello.create(tmp_path / "c", crawl={"delay": 0}) as collection,
    ):
        report = collection.crawl(web.seeds[:1], progress=False)
        with Server(collection) as server:
            found = {one.name: one for one in prometheus(httpx.get(f"{server.url}/metrics").text)}
            assert httpx.get(f"{server.url}/ready").status_code == 503
        assert value(found, "crivello_crawl_urls_total", outcome="fetched") == report.outcomes["fetched"]
        assert value(found, "crivello_crawl_requests_total") == report.requests
        assert (
            value(found, "crivello_crawl_urls_waiting") == 0 and value(found, "crivello_crawl_running") == 1
        )


def test_labels_never_hold_what_a_client_sends() -> None:
    with served() as client:
        client.get('/a"b%0A')
        client.request("BREW", "/search")
        text = client.get("/metrics").text
    assert 'route="other",method="GET",status="404"' in text and 'method="other"' in text
    assert "BREW" not in text and 'a"b' not in text
    assert list(prometheus(text))


def test_ready_says_whether_there_is_something_to_search() -> None:
    with served() as client:
        assert client.get("/ready").json() == {"status": "ready"}
        assert client.get("/health").status_code == 200
    with served(engine=MemoryEngine([], state="empty")) as client:
        response = client.get("/ready")
        assert response.status_code == 503
        assert response.json() == {"status": "not ready", "problem": "there is nothing to search yet"}
        assert client.get("/health").status_code == 200


def test_users_are_asked_for_name_and_password(tmp_path: Path) -> None:
    file = tmp_path / "users.txt"
    file.write_text(f"# who may search\n{line_of('ada', 'böse:Ente')}\n")
    with served(Serve(users=str(file))) as client:
        for path in ("/", "/search?q=lens", "/metrics", "/static/style.css", "/api/search?q=lens"):
            refused = client.get(path)
            assert refused.status_code == 401 and refused.headers["www-authenticate"].startswith("Basic ")
            assert "nosniff" in refused.headers["x-content-type-options"]
        for wrong in [("ada", "böse"), ("bob", "böse:Ente"), ("", "")]:
            assert client.get("/", auth=_encoded(*wrong)).status_code == 401
        assert client.get("/", headers={"Authorization": "Basic !!!"}).status_code == 401
        for _ in range(2):  # the second time from memory
            assert client.get("/", auth=_encoded("ada", "böse:Ente")).status_code == 200
        assert client.get("/health").status_code == client.get("/ready").status_code == 200


def test_a_program_sends_its_token_instead(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "users.txt").write_text(line_of("ada", "secret"))
    settings = Serve(users=str(tmp_path / "users.txt"), tokens=str(tmp_path / "tokens.txt"))
    collection = crivello.open(folder)
    doors = Doors(collection, settings)
    token = doors.tokens.add("loader", "read")
    with Server(collection, doors=doors, settings=settings) as server:
        asked = f"{server.url}/api/v1/search?q=lens"
        assert httpx.get(asked).status_code == 401
        assert httpx.get(asked, headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert httpx.get(asked, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def _encoded(name: str, password: str) -> tuple[bytes, bytes]:
    return name.encode(), password.encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "has no users"),
        ("ada:secret\n", "line 1 is not a user"),
        ("ada:md5:00:00\n", "line 1"),
        (None, "No such"),
    ],
)
def test_a_file_of_users_that_is_none_is_refused(tmp_path: Path, content: str | None, said: str) -> None:
    file = tmp_path / "users.txt"
    if content is not None:
        file.write_text(content)
    with pytest.raises((InvalidSetting, StorageError), match=said):
        read_users(file)
    with pytest.raises((InvalidSetting, StorageError), match=said):
        Server(MemoryEngine(PAGES), settings=Serve(users=str(file)))


def test_a_password_is_read_from_a_pipe_and_fits(tmp_path: Path) -> None:
    done = subprocess.run(
        [CRIVELLO, "service", "password", "ada"], input="secret\n", capture_output=True, text=True
    )
    (tmp_path / "users.txt").write_text(done.stdout)
    with served(Serve(users=str(tmp_path / "users.txt"))) as client:
        assert client.get("/", auth=("ada", "secret")).status_code == 200
    refused = subprocess.run(
        [CRIVELLO, "service", "password", "a:b"], input="x\n", capture_output=True, text=True
    )
    assert refused.returncode == 2 and "is not a user's name" in refused.stderr


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "crivello")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "chain.pem").write_bytes(signed.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "chain.pem", folder / "key.pem"


def test_tls_by_file(certificate: tuple[Path, Path]) -> None:
    chain, key = map(str, certificate)
    with served(Serve(tls_certificate=chain, tls_key=key)) as client:
        assert client.base_url.scheme == "https"
        assert "https://127.0.0.1" in client.get("/opensearch.xml").text
        with pytest.raises(httpx.HTTPError):
            httpx.get(str(client.base_url).replace("https", "http"))
        trusted = ssl.create_default_context(cafile=chain)
        trusted.check_hostname = False
        assert httpx.get(f"{client.base_url}/health", verify=trusted).status_code == 200


def test_a_certificate_that_cannot_be_used_is_refused(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    chain, key = map(str, certificate)
    for wrong, error in [
        (Serve(tls_key=key), InvalidSetting),
        (Serve(tls_certificate=chain), InvalidSetting),
        (Serve(tls_certificate=str(tmp_path / "no.pem"), tls_key=key), StorageError),
        (Serve(tls_certificate=key, tls_key=key), InvalidSetting),
    ]:
        with pytest.raises(error):
            Server(MemoryEngine(PAGES), settings=wrong)


def test_forwarded_headers_are_believed_only_of_trusted_proxies() -> None:
    said = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
    for trusted, scheme in [("", "http"), ("127.0.0.0/8", "https"), ("192.0.2.1", "http")]:
        with served(Serve(trusted_proxies=trusted)) as client:
            assert f'template="{scheme}://127.0.0.1' in client.get("/opensearch.xml", headers=said).text


def test_logs_are_json_without_the_query(folder: Path) -> None:
    with running(folder, "--log", "json", "--trusted-proxies", "127.0.0.1") as (_, url, logged):
        httpx.get(f"{url}/search", params={"q": "secret"}, headers={"X-Forwarded-For": "203.0.113.9"})
        httpx.get(f"{url}/a%0Ab")
    said = [json.loads(line) for line in logged if line.startswith("{")]
    assert [(one["path"], one["status"], one["client"]) for one in said] == [
        ("/search", 200, "203.0.113.9"),
        ("/a\nb", 404, "127.0.0.1"),
    ]
    assert all(one["milliseconds"] > 0 and one["bytes"] > 0 and one["level"] == "info" for one in said)
    assert "secret" not in "".join(logged)


def test_logs_are_lines_of_text(folder: Path) -> None:
    with running(folder, "--log", "text") as (_, url, logged):
        httpx.get(f"{url}/health")
        httpx.get(f"{url}/a%0Ab")
    assert re.search(r"Z?\+00:00 127.0.0.1 GET /health 200 \d+ bytes [\d.]+ ms\n", logged[1])
    assert " GET /a\\nb 404 " in logged[2] and len(logged) == 3


class Asking:
    """Clients that ask until the context ends; ``failures`` are requests without the right answer."""

    def __init__(self, url: str, clients: int) -> None:
        self._url = url
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(clients)]
        self.asked = 0
        self.failures: list[str] = []

    def __enter__(self) -> Asking:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _ask(self) -> None:
        with httpx.Client(base_url=self._url, timeout=30) as client:
            while not self._stopping.is_set():
                try:
                    response = client.get("/api/search", params={"q": "lens"})
                    if response.status_code != 200 or not response.json()["matches"]:
                        self.failures.append(response.text)
                except httpx.HTTPError as error:
                    self.failures.append(repr(error))
                self.asked += 1

    def wait_for(self, more: int) -> None:
        """Waits until this number of further requests was answered."""
        goal, deadline = self.asked + more, time.monotonic() + 60
        while self.asked < goal and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self.asked >= goal


def workers_of(pid: int) -> set[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(child) for child in found}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see the workers")
def test_no_request_is_lost_over_commits_deaths_and_replaced_workers(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with crivello.create(folder) as collection:
        collection.add(_documents(200), progress=False)
    with running(folder, "--workers", "2") as (process, url, _), Asking(url, 4) as asking:
        asking.wait_for(20)
        first = workers_of(process.pid)
        assert len(first) == 2
        for count in (210, 220, 230):
            with crivello.open(folder, write=True) as collection:
                collection.add(_documents(count), progress=False)
            asking.wait_for(20)
        assert httpx.get(f"{url}/health").json()["pages"] == 230
        process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 60
        while first & workers_of(process.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        second = workers_of(process.pid)
        assert not first & second and len(second) == 2
        asking.wait_for(20)
        assert not asking.failures
        found = {one.name: one for one in prometheus(httpx.get(f"{url}/metrics").text)}
        asked = {"route": "/api/search", "method": "GET", "status": "200"}
        counted = value(found, "crivello_http_requests_total", **asked)
        assert counted > 80  # of both generations of workers
        os.kill(min(second), signal.SIGKILL)
        deadline = time.monotonic() + 30
        while len(workers_of(process.pid) - {min(second)}) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        asking.wait_for(20)
    assert process.returncode == 0


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see the workers")
def test_ctrl_c_while_workers_start_ends_them_without_a_word(folder: Path) -> None:
    command = [str(CRIVELLO), "serve", str(folder), "--workers", "2", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        deadline = time.monotonic() + 60
        while len(workers_of(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in said


def test_workers_that_cannot_start_are_one_sentence(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [CRIVELLO, "serve", folder, "--workers", "2", "--port", port],
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 3 and "the port is taken" in done.stderr and "Traceback" not in done.stderr


def test_the_unit_of_the_service(folder: Path, tmp_path: Path) -> None:
    crivello.create(tmp_path / "a $b 100%").close()
    odd = Service.of(tmp_path / "a $b 100%")
    assert odd.name == "crivello-a-b-100-" and '/a $$b 100%%" --workers' in odd.unit
    for is_own in (True, False):
        service = Service.of(folder, is_own=is_own)
        assert f'serve "{folder}" --workers 2 --log json' in service.unit and "kill -HUP" in service.unit
        assert ("User=" in service.unit) != is_own
        assert service.file.name == "crivello-lenses.service"
    done = subprocess.run(
        [CRIVELLO, "service", "install", folder, "--dry-run", "--name", "no/name"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "is not a service's name" in done.stderr
    done = subprocess.run(
        [CRIVELLO, "service", "install", folder, "--dry-run"], capture_output=True, text=True
    )
    assert f'serve "{folder}" --workers 2' in done.stdout and done.stdout.startswith("[Unit]\n")
    assert done.stderr == "/etc/systemd/system/crivello-lenses.service would be:\n"


@pytest.mark.skipif(not Path("/usr/bin/systemd-analyze").exists(), reason="needs systemd-analyze")
@pytest.mark.parametrize("is_own", [True, False])
def test_systemd_accepts_the_unit(folder: Path, tmp_path: Path, is_own: bool) -> None:
    service = Service.of(folder, is_own=is_own)
    file = tmp_path / service.file.name
    file.write_text(service.unit)
    command = ["systemd-analyze", "verify", "--man=no", *(["--user"] if is_own else []), str(file)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    # It looks at every unit of the machine; only ours counts.
    assert file.name not in done.stderr, done.stderr


def test_the_dashboard_of_grafana_asks_for_metrics_that_exist() -> None:
    dashboard = json.loads((ROOT / "deploy" / "grafana.json").read_text())
    asked = {
        name
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
        for name in re.findall(r"\b(?:crivello|process)_\w+", target["expr"])
    }
    source = (ROOT / "python" / "crivello" / "web" / "metrics.py").read_text()
    known = set(re.findall(r'"((?:crivello|process)_\w+)"', source))
    assert len(asked) > 10
    for name in asked:
        assert re.sub(r"_(total|bucket|count|sum)$", "", name) in known or name in known, name


def test_the_container_runs_what_exists_and_not_as_root() -> None:
    lines = (ROOT / "deploy" / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    stages = [line[-1] for line in words if line[0] == "FROM" and "AS" in line]
    assert len(stages) == 2
    for line in words:
        if line[0] == "COPY" and not line[1].startswith("--from"):
            for source in line[1:-1]:
                assert (ROOT / source).exists(), source
    last = max(index for index, line in enumerate(words) if line[0] == "FROM")
    final = {line[0]: line for line in words[last:]}
    assert final["USER"][1].partition(":")[0] not in ("root", "0")
    assert "/ready" in " ".join(final["HEALTHCHECK"]) or "/health" in " ".join(final["HEALTHCHECK"])
    assert json.loads(" ".join(final["ENTRYPOINT"][1:])) == ["crivello"]
    command = json.loads(" ".join(final["CMD"][1:]))
    done = subprocess.run([CRIVELLO, command[0], "--help"], capture_output=True, text=True)
    for flag in (word for word in command if word.startswith("--")):
        assert flag in done.stdout
