"""The door for clients of Elasticsearch, asked by the official one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from elasticsearch import ApiError, BadRequestError, Elasticsearch, NotFoundError, helpers

import crivello
from crivello.web.api.elastic_query import UnsupportedQuery, operator_of
from tests.doors import DOCUMENTS, served, token


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elastic") / "small"
    with crivello.create(folder) as collection:
        collection.add(DOCUMENTS, progress=False)
    return folder


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with served(folder) as url:
        yield f"{url}/elastic"


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Elasticsearch]:
    with Elasticsearch(url) as client:
        yield client


def ids(answer: Any) -> list[str]:
    return sorted(hit["_source"]["id"] for hit in answer["hits"]["hits"])


def test_the_client_takes_it_for_what_it_knows(client: Elasticsearch) -> None:
    info = client.info()
    assert info["cluster_name"] == "small" and "Crivello" in info["tagline"]
    assert client.ping()
    assert client.indices.exists(index="small") and not client.indices.exists(index="other")


def test_search(client: Elasticsearch) -> None:
    answer = client.search(
        index="small",
        query={"match": {"_all": "lens flame"}},
        highlight={"fields": {"body": {}}, "pre_tags": ["["], "post_tags": ["]"]},
        aggs={
            "sites": {"terms": {"field": "site"}},
            "tongues": {"terms": {"field": "language.keyword", "size": 1}},
        },
        size=2,
    )
    first = answer["hits"]["hits"][0]
    assert answer["hits"]["total"] == {"value": 2, "relation": "eq"} and not answer["timed_out"]
    assert (first["_index"], first["_id"], first["_source"]["title"]) == (
        "small", "https://sea.example/0", "The Fresnel lens",
    )  # fmt: skip
    assert first["_score"] == answer["hits"]["max_score"] > 0
    assert first["highlight"] == {"body": ["A lighthouse [lens] bends the light of one [flame]"]}
    assert answer["aggregations"]["sites"]["buckets"] == [{"key": "sea.example", "doc_count": 2}]
    assert answer["aggregations"]["tongues"]["buckets"] == [{"key": "en", "doc_count": 2}]
    page = client.search(
        index="small",
        size=1,
        from_=1,
        query={"match": {"_all": "lens flame"}},
        source={"includes": ["title"]},
    )
    assert page["hits"]["hits"][0]["_source"] == {"title": "Keeping the light"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"match_all": {}}, "d0 d1 d2 d3"),
        ({"match": {"body": "lighthouse"}}, "d0 d1 d2"),
        ({"match": {"title": "lighthouse"}}, ""),
        ({"match": {"body": {"query": "lighthouse flame", "operator": "and"}}}, "d0 d1"),
        ({"match": {"body": 'OR "( xyzzy -lens'}}, "d0"),
        ({"match_phrase": {"body": "one flame"}}, "d0"),
        ({"match_phrase": {"body": {"query": "flame one"}}}, ""),
        ({"multi_match": {"query": "bees lens", "fields": ["title^2", "body"]}}, "d0 d3"),
        ({"prefix": {"body": {"value": "light"}}}, "d0 d1 d2"),
        ({"term": {"site": "land.example"}}, "d2 d3"),
        ({"term": {"language": {"value": "it"}}}, "d2"),
        ({"terms": {"type": ["pdf", "office"]}}, "d2"),
        ({"range": {"date": {"gte": "2022-12-24", "lt": "2024-05-01"}}}, "d1 d2"),
        ({"range": {"date": {"gt": "2022-12-24", "lte": "2024-05-01"}}}, "d0 d1"),
        ({"bool": {"must": {"match": {"body": "lighthouse"}}, "must_not": [{"term": {"language": "it"}}]}}, "d0 d1"),
        ({"bool": {"filter": [{"match": {"body": "flame"}}, {"range": {"date": {"gte": "2024"}}}]}}, "d0"),
        ({"bool": {"should": [{"match": {"body": "hive"}}, {"match": {"body": "keeper"}}]}}, "d1 d3"),
        ({"bool": {"must": [{"match_all": {}}], "should": [{"match": {"body": "hive"}}]}}, "d0 d1 d2 d3"),
        ({"bool": {"must_not": {"match": {"body": "lighthouse"}}}}, "d3"),
        ({"bool": {}}, "d0 d1 d2 d3"),
    ],
)  # fmt: skip
def test_every_query_of_the_subset_counts_and_finds_the_same(
    client: Elasticsearch, query: dict[str, Any], expected: str
) -> None:
    answer = client.search(index="small", query=query)
    assert " ".join(ids(answer)) == expected
    assert client.count(index="small", query=query)["count"] == len(expected.split())


def test_should_only_adds_to_the_score(client: Elasticsearch) -> None:
    must = {"match": {"body": "lighthouse"}}
    query = {"bool": {"must": must, "should": [{"match": {"body": "keeper"}}]}}
    best = client.search(index="small", query=query)["hits"]["hits"][0]
    assert best["_source"]["id"] == "d1"
    filtered = {"bool": {"filter": [must]}}
    assert client.search(index="small", query=filtered)["hits"]["max_score"] < 0.001


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"fuzzy": {"body": "lens"}}, "[fuzzy] is not supported"),
        ({"match": {"body": {"query": "x", "fuzziness": 2}}}, "[match] does not support [fuzziness]"),
        ({"match": {"price": "x"}}, "no field [price]"),
        ({"match_phrase": {"body": {"query": "a b", "slop": 2}}}, "[slop]"),
        ({"term": {"title": "x"}}, "[term] on [title]"),
        ({"range": {"price": {"gte": 1}}}, "[range] on [price]"),
        ({"range": {"date": {"gte": "now-1d"}}}, "date math"),
        ({"bool": {"minimum_should_match": 2, "should": []}}, "minimum_should_match"),
        ({"match": {"body": "lens"}, "term": {}}, "one name"),
    ],
)
def test_the_rest_is_refused_by_name(client: Elasticsearch, query: dict[str, Any], named: str) -> None:
    with pytest.raises(BadRequestError) as caught:
        client.search(index="small", query=query)
    assert (
        named in caught.value.body["error"]["reason"]
        and caught.value.body["error"]["type"] == "parsing_exception"
    )


def test_other_calls_are_refused_by_name(client: Elasticsearch) -> None:
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: client.search(index="small", aggs={"a": {"avg": {"field": "x"}}}), "only terms"),
        (lambda: client.search(index="small", sort=[{"date": "desc"}]), "[sort] by _score"),
        (lambda: client.search(index="small", knn={"field": "v", "k": 1, "query_vector": [1.0]}), "[knn]"),
        (lambda: client.search(index="small", q="lens"), "the parameter [q]"),
        (lambda: client.indices.create(index="other"), "PUT /other is not supported"),
        (lambda: client.cluster.health(), "GET /_cluster/health is not supported"),
    ]
    for call, named in calls:
        with pytest.raises(BadRequestError) as caught:
            call()
        assert named in caught.value.body["error"]["reason"]
    with pytest.raises(NotFoundError, match=r"no such index \[other\]; there is \[small\]"):
        client.search(index="other")


def test_bulk_adds_replaces_and_deletes(folder: Path, url: str) -> None:
    secret = token(folder, "crawl")
    with Elasticsearch(url, api_key=secret) as client:
        actions = [
            {
                "_index": "small",
                "_id": f"n{number}",
                "_source": {"title": f"Note {number}", "body": "a quokka"},
            }
            for number in range(50)
        ]
        assert helpers.bulk(client, actions, refresh=True) == (50, [])
        assert client.count(index="small", query={"match": {"title": "note"}})["count"] == 50
        found = client.search(index="small", query={"match_phrase": {"title": "note 7"}})["hits"]["hits"]
        assert [hit["_id"] for hit in found] == ["n7"]
        again = client.bulk(
            index="small", operations=[{"index": {"_id": "n7"}}, {"title": "Numbat", "body": "x"}]
        )
        assert again["items"][0]["index"]["result"] == "updated" and not again["errors"]
        assert client.count(index="small", query={"match": {"body": "quokka"}})["count"] == 49
        said = client.bulk(
            operations=[
                {"delete": {"_index": "small", "_id": "n8"}},
                {"update": {"_index": "small", "_id": "n9"}},
                {"doc": {"title": "x"}},
                {"index": {"_index": "elsewhere", "_id": "1"}},
                {"title": "y"},
                {"index": {"_index": "small", "_id": "n10"}},
                {"title": ["not", "a", "text"]},
            ]
        )
        outcomes = [next(iter(item.values())) for item in said["items"]]
        assert said["errors"] and [item["status"] for item in outcomes] == [200, 400, 404, 400]
        assert "whole document" in outcomes[1]["error"]["reason"]
        assert client.count(index="small", query={"match": {"body": "quokka"}})["count"] == 48
        client.bulk(index="small", operations=[{"delete": {"_id": f"n{number}"}} for number in range(50)])
        assert client.count(index="small")["count"] == 4


def test_bulk_takes_a_token_and_one_writer(folder: Path, url: str) -> None:
    operations: list[dict[str, Any]] = [{"index": {"_id": "z"}}, {"title": "z"}]
    with Elasticsearch(url) as client, pytest.raises(ApiError) as caught:
        client.bulk(index="small", operations=operations)
    assert caught.value.status_code == 401 and "crivello token add" in str(caught.value.body)
    with Elasticsearch(url, basic_auth=("reader", token(folder, "read"))) as client:
        with pytest.raises(ApiError) as caught:
            client.bulk(index="small", operations=operations)
        assert caught.value.status_code == 403
    secret = token(folder, "admin")
    with Elasticsearch(url, bearer_auth=secret, retry_on_status=[]) as client:
        with crivello.open(folder, write=True), pytest.raises(ApiError) as caught:
            client.bulk(index="small", operations=operations)
        assert caught.value.status_code == 429
    foreign = {"Origin": "https://evil.example", "Authorization": f"Bearer {secret}"}
    assert httpx.post(f"{url}/small/_bulk", content=b"", headers=foreign).status_code == 403


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"index":{}}\n', b'{"explode":{}}\n{}\n', b'{"index":{}}\nnot json\n']
)
def test_damaged_bodies_are_one_sentence(folder: Path, url: str, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {token(folder, 'crawl')}", "Content-Type": "application/x-ndjson"}
    response = httpx.post(f"{url}/small/_bulk", content=body, headers=headers)
    assert response.status_code == 400 and response.json()["error"]["reason"]


def test_a_deep_query_is_refused() -> None:
    query: dict[str, Any] = {"match_all": {}}
    for _ in range(30):
        query = {"bool": {"must": [query]}}
    with pytest.raises(UnsupportedQuery, match="levels"):
        operator_of(query)
