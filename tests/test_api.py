"""The HTTP API: its operations, its description, and the gate in front of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

import crivello
from crivello.errors import InvalidArgument, InvalidSetting
from crivello.settings import Serve
from crivello.web import Doors
from crivello.web.api.limits import MOST_CLIENTS, Limits
from crivello.web.api.openapi import description
from crivello.web.api.tokens import Tokens
from crivello.web.api.v1 import OPERATIONS
from tests.doors import asking, make, token
from tests.memory_engine import text_of

OPENAPI = description("small", "http://127.0.0.1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("api") / "small")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with asking(folder) as client:
        yield client


@pytest.fixture(scope="module")
def url(folder: Path) -> str:
    """A page that was crawled."""
    return next(row.url for row in crivello.open(folder).pages() if row.title and row.depth)


def validated(value: Any, schema: str) -> Any:
    """Checks a value by a schema of the description."""
    document = {"$ref": f"#/components/schemas/{schema}", "components": OPENAPI["components"]}
    Draft202012Validator(document, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)
    return value


def problem(response: httpx.Response, kind: str) -> dict[str, Any]:
    assert response.headers["content-type"] == "application/problem+json"
    said: dict[str, Any] = validated(response.json(), "Problem")
    assert (said["type"], said["status"]) == (f"/api#{kind}", response.status_code)
    return said


def test_the_description_is_valid_openapi(client: httpx.Client) -> None:
    served = client.get("/openapi.json").json()
    OpenAPIV31SpecValidator(served).validate()
    assert served["servers"] == [{"url": str(client.base_url).rstrip("/")}]
    assert list(served["paths"]) == [operation.path for operation in OPERATIONS]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_operation_answers_what_its_schema_says(client: httpx.Client, url: str, operation: Any) -> None:
    """With nothing but what is needed, and with every parameter that is described."""
    values = {"q": "lighthouse", "url": url, "at": "now", "prefix": "http://127.0.0.1/"}
    for parameters in (
        [one for one in operation.parameters if one.required],
        [one for one in operation.parameters if one.name not in ("site",)],
    ):
        given = {one.name: values.get(one.name, one.example) for one in parameters}
        response = client.get(operation.path, params=given)
        assert response.status_code == 200, response.text
        described = OPENAPI["paths"][operation.path]["get"]["responses"]["200"]["content"]
        assert list(described) == [response.headers["content-type"]]
        answers = map(json.loads, response.text.splitlines()) if operation.streamed else [response.json()]
        for answer in answers:
            validated(answer, operation.schema)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_limits_in_the_description_are_those_that_hold(client: httpx.Client, operation: Any) -> None:
    described = OPENAPI["paths"][operation.path]["get"]["parameters"]
    needed = {one["name"]: "x" for one in described if one["required"]}
    for one in described:
        schema, name = one["schema"], one["name"]
        wrong: list[Any] = []
        if "maximum" in schema:
            wrong = [schema["minimum"] - 1, schema["maximum"] + 1, "many"]
        elif "enum" in schema:
            wrong = [2, "yes"]
        elif "maxLength" in schema:
            wrong = ["x" * (schema["maxLength"] + 1), *([""] if one["required"] else [])]
        assert wrong
        for value in wrong:
            response = client.get(operation.path, params={**needed, name: value})
            assert name in problem(response, "invalid-argument")["detail"]
    response = client.get(operation.path, params={**needed, "surprise": 1})
    assert "'surprise' is not a parameter" in problem(response, "invalid-argument")["detail"]


def test_search(client: httpx.Client) -> None:
    answer = client.get(
        "/api/v1/search", params={"q": "lens flame site:sea.example", "top": 2, "explain": 1, "facets": 1}
    ).json()
    hit = answer["hits"][0]
    assert (hit["url"], hit["id"]) == ("https://sea.example/0", "d0")
    assert "<mark>lens</mark>" in hit["snippet"] and hit["explanation"]["parts"]
    assert [(value["value"], value["count"]) for value in answer["facets"]["site"]] == [("sea.example", 2)]
    second = client.get(
        "/api/v1/search", params={"q": "lens flame site:sea.example", "top": 1, "offset": 1}
    ).json()["hits"]
    assert [one["url"] for one in second] == [answer["hits"][1]["url"]]


def test_completions(client: httpx.Client, folder: Path) -> None:
    answer = client.get("/api/v1/complete", params={"q": "the fres", "top": 3}).json()
    assert answer["prefix"] == "the fres"
    assert answer["completions"] == crivello.open(folder).complete("the fres", top=3)
    assert answer["completions"][0] == "the fresnel lens"


def test_a_query_that_does_not_parse_says_where(client: httpx.Client) -> None:
    said = problem(client.get("/api/v1/search", params={"q": "lens (open"}), "query-syntax")
    assert said["position"] == 5 and "never closed" in said["detail"] and said["hint"]


def test_pages_are_streamed_and_filtered(client: httpx.Client, folder: Path) -> None:
    rows = [json.loads(line) for line in client.get("/api/v1/pages").text.splitlines()]
    assert [row["url"] for row in rows] == [row.url for row in crivello.open(folder).pages()]
    some = client.get("/api/v1/pages", params={"outcome": "redirected", "top": 1}).text.splitlines()
    assert [json.loads(line)["outcome"] for line in some] == ["redirected"]
    assert client.get("/api/v1/pages?site=nowhere.example").text == ""
    wrong = client.get("/api/v1/pages?site=a.example&prefix=https://b.example/")
    assert "not both" in problem(wrong, "invalid-argument")["detail"]
    assert "is not a time" in problem(client.get("/api/v1/pages?since=soon"), "invalid-argument")["detail"]


def test_a_page_its_neighbours_and_its_history(client: httpx.Client, url: str, folder: Path) -> None:
    page = client.get("/api/v1/page", params={"url": url, "links": 1}).json()
    assert (
        page["text"] == crivello.open(folder).text(url)
        and page["links"]
        and page["versions"] == [page["page"]]
    )
    assert "text" not in client.get("/api/v1/page", params={"url": url, "text": 0}).json()
    similar = client.get("/api/v1/similar", params={"url": url, "top": 3}).json()["hits"]
    assert 0 < len(similar) <= 3 and url not in [hit["url"] for hit in similar]
    assert [hit["rank"] for hit in similar] == [*range(1, len(similar) + 1)]
    why = client.get("/api/v1/why", params={"url": url}).json()
    assert why["state"] == "done" and why["sentences"]
    ranks = client.get("/api/v1/rank", params={"top": 2}).json()["pages"]
    best = client.get("/api/v1/rank", params={"url": ranks[0]["url"]}).json()["ranks"]
    assert len(ranks) == 2 and best[0]["position"] == 1 and best[0]["value"] == ranks[0]["rank"]


@pytest.mark.parametrize("path", ["page", "similar", "rank"])
def test_what_is_not_there_is_said(client: httpx.Client, path: str) -> None:
    said = problem(client.get(f"/api/v1/{path}?url=https://nowhere.example/"), "not-found")
    assert "https://nowhere.example/ is not in the collection" in said["detail"]
    assert client.get("/api/v1/why?url=https://nowhere.example/").json()["state"] == "unknown"


def test_wrong_paths_and_methods_are_problems(client: httpx.Client) -> None:
    problem(client.get("/api/v1/nowhere"), "not-found")
    response = client.post("/api/v1/search")
    problem(response, "method-not-allowed")
    assert "GET" in response.headers["allow"]


def test_an_answer_has_a_tag_that_changes_with_a_commit(folder: Path, client: httpx.Client) -> None:
    first = client.get("/api/v1/search?q=meadow")
    tag = first.headers["etag"]
    assert client.get("/api/v1/search?top=10&q=meadow").headers["etag"] == tag
    assert client.get("/api/v1/search?q=hive").headers["etag"] != tag
    again = client.get("/api/v1/search?q=meadow", headers={"If-None-Match": f'"other", {tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    with crivello.open(folder, write=True) as collection:
        collection.add({"id": "new", "body": "another meadow"}, progress=False)
    changed = client.get("/api/v1/search?q=meadow", headers={"If-None-Match": tag})
    assert changed.status_code == 200 and changed.json()["matches"] == first.json()["matches"] + 1
    assert "etag" not in client.get("/api/v1/status").headers


def test_long_answers_are_compressed(client: httpx.Client) -> None:
    response = client.get("/api/v1/pages", headers={"Accept-Encoding": "gzip"})
    assert response.headers["content-encoding"] == "gzip"
    assert client.get("/api/v1/pages", headers={"Accept-Encoding": "identity"}).text == response.text


def test_the_page_of_the_api_shows_every_operation_without_scripts(client: httpx.Client) -> None:
    response = client.get("/api")
    page = text_of(response.text)
    assert response.headers["content-type"].startswith("text/html")
    for operation in OPERATIONS:
        assert f"GET {operation.path}" in page and operation.summary in page
        assert all(parameter.description in page for parameter in operation.parameters)
    for kind in ("invalid-argument", "token-needed", "too-many-requests"):
        assert f'id="{kind}"' in response.text


# The gate


def test_only_named_origins_may_call(folder: Path, client: httpx.Client) -> None:
    docs, other = {"Origin": "https://docs.example"}, {"Origin": "https://other.example"}
    assert "access-control-allow-origin" not in client.get("/api/v1/status", headers=docs).headers
    asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    with asking(folder, cors="https://Docs.example/ http://localhost:8000") as shared:
        allowed = shared.get("/api/v1/status", headers=docs).headers
        assert allowed["access-control-allow-origin"] == "https://docs.example"
        assert "Origin" in allowed["vary"]
        refused = shared.get("/api/v1/status", headers=other).headers
        assert "access-control-allow-origin" not in refused and "Origin" in refused["vary"]
        flight = shared.options("/api/v1/search", headers={**docs, **asked})
        assert flight.status_code == 204 and flight.headers["access-control-allow-headers"] == "authorization"
        problem(shared.options("/api/v1/search", headers={**other, **asked}), "scope-needed")
        page = shared.get("/search?q=lens", headers=docs).headers
        assert "access-control-allow-origin" not in page
        script = shared.get("/static/embed.js", headers=docs).headers
        assert script["cross-origin-resource-policy"] == "cross-origin"
    with asking(folder, cors="*") as shared:
        assert shared.get("/api/v1/status", headers=other).headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    "origin", ["docs.example", "ftp://docs.example", "https://docs.example/path", "https://"]
)
def test_what_is_not_an_origin_is_refused(folder: Path, origin: str) -> None:
    with pytest.raises(InvalidSetting, match="is not an origin"):
        Doors(crivello.open(folder), Serve(cors=origin))


def test_reading_takes_a_token_if_a_setting_says_so(folder: Path) -> None:
    secret = token(folder, "read")
    with asking(folder, read_token=True) as client:
        response = client.get("/api/v1/status")
        said = problem(response, "token-needed")
        assert "scope read" in said["detail"] and "crivello token add" in said["hint"]
        assert response.headers["www-authenticate"].startswith("Bearer")
        problem(client.get("/api/v1/status", headers={"Authorization": "Bearer wrong"}), "token-needed")
        for headers in ({"Authorization": f"Bearer {secret}"}, {"Authorization": f"ApiKey {secret}"}):
            assert client.get("/api/v1/status", headers=headers).is_success
        assert client.get("/api/v1/status", auth=("anyone", secret)).is_success
        problem(client.get("/api/v1/status", auth=("anyone", "else")), "token-needed")
        assert client.get("/search?q=lens").is_success
        for hidden in ("/openapi.json", "/api/search?q=lens", "/search?q=lens&format=json"):
            assert client.get(hidden).status_code == 401, hidden


def test_the_password_of_a_person_is_not_taken_for_a_token(client: httpx.Client) -> None:
    assert client.get("/api/v1/status", auth=("ada", "secret")).is_success
    problem(client.get("/api/v1/status", headers={"Authorization": "Bearer secret"}), "token-needed")


def test_more_requests_than_allowed_are_refused(folder: Path) -> None:
    with asking(folder, rate_limit=3) as client:
        passed = [client.get("/api/v1/status") for _ in range(3)]
        assert [response.status_code for response in passed] == [200] * 3
        assert passed[0].headers["ratelimit-policy"] == '"minute";q=3;w=60'
        assert passed[0].headers["ratelimit"].startswith('"minute";r=2;t=0')
        refused = client.get("/api/v1/status")
        problem(refused, "too-many-requests")
        assert 1 <= int(refused.headers["retry-after"]) <= 20
        assert client.get("/").is_success
        secret = {"Authorization": f"Bearer {token(folder, 'read')}"}
        assert client.get("/api/v1/status", headers=secret).is_success


@given(st.integers(1, 50), st.lists(st.integers(0, 90), max_size=60))
def test_a_bucket_lets_through_what_its_definition_says(a_minute: int, pauses: list[int]) -> None:
    now = [0.0]
    limits = Limits(a_minute, lambda: now[0])
    level = float(a_minute)
    for turn, pause in enumerate(pauses):
        now[0] += pause
        level = min(a_minute, level + pause * a_minute / 60)
        left = limits.take("someone")
        assert left.allowed == (level >= 1)
        level -= left.allowed
        assert left.remaining == int(level)
        assert limits.take(f"another {turn}").allowed


def test_the_memory_of_limits_is_bounded() -> None:
    limits = Limits(1)
    for number in range(MOST_CLIENTS + 10):
        limits.take(str(number))
    assert len(limits._buckets) == MOST_CLIENTS


def test_tokens_are_stored_as_digests_and_can_be_removed(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.txt")
    assert tokens.list() == [] and tokens.of("Bearer x") is None
    secret = tokens.add("crawler", "crawl")
    text = (tmp_path / "tokens.txt").read_text()
    assert secret not in text and "crawler crawl 2" in text
    assert (tmp_path / "tokens.txt").stat().st_mode & 0o077 == 0
    found = Tokens(tmp_path / "tokens.txt").of(f"bearer {secret}")
    assert found and found.allows("read") and found.allows("crawl") and not found.allows("admin")
    assert tokens.of(f"Digest {secret}") is None and tokens.of("Basic ???") is None
    with pytest.raises(InvalidArgument, match="already"):
        tokens.add("crawler", "read")
    for name, scope in (("two words", "read"), ("x", "everything")):
        with pytest.raises(InvalidArgument):
            tokens.add(name, scope)
    assert tokens.remove("crawler") and not tokens.remove("crawler")
    assert tokens.of(f"Bearer {secret}") is None
    (tmp_path / "tokens.txt").write_text("crawler crawl\n")
    with pytest.raises(InvalidArgument, match=r"tokens.txt, line 1 is not a token"):
        tokens.list()
