"""The names of nodes: in a file, by number and back, and by site."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello._core import NodeNames, name_order
from crivello.errors import CorruptFile, CrivelloError, InvalidArgument

URLS = st.builds(
    "{}://{}/{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.org", "www.a.org", "a-b.org", "b.org", "x.b.org:81", "10.0.0.1"]),
    st.text("ab/", max_size=3),
)
NAMES = st.lists(st.one_of(URLS, st.integers(0).map(str), st.text(max_size=5)), max_size=80, unique=True)


def listed(names: NodeNames) -> list[str]:
    return [names[node] for node in range(len(names))]


@settings(deadline=None, max_examples=50)
@given(NAMES, st.booleans(), st.text(max_size=5))
def test_maps_names_to_nodes_and_back(names: list[str], ordered: bool, other: str) -> None:
    if ordered:
        names = [names[place] for place in name_order(names)]
    stored = NodeNames.of(names)
    assert (len(stored), listed(stored)) == (len(names), names)
    assert [stored.find(name) for name in names] == [*range(len(names))]
    assert stored.find(other) == (names.index(other) if other in names else None)
    assert stored.sorted or not ordered
    with pytest.raises(IndexError):
        stored[len(names)]


@settings(deadline=None, max_examples=50)
@given(st.lists(URLS, max_size=60, unique=True))
def test_a_site_and_a_domain_are_ranges(urls: list[str]) -> None:
    urls = [urls[place] for place in name_order(urls)]
    stored = NodeNames.of(urls)

    def hosts(first: int, end: int) -> list[str]:
        return urls[first:end]

    def host(url: str) -> str:
        return url.split("/")[2].split(":")[0]

    for name in ("a.org", "www.a.org", "b.org", "10.0.0.1", "c.org"):
        assert hosts(*stored.site(name)) == [url for url in urls if host(url) == name]
    for domain in ("a.org", "b.org"):
        inside = [url for url in urls if host(url) == domain or host(url).endswith("." + domain)]
        assert hosts(*stored.domain(domain)) == inside
    inside = [url for url in urls if url.startswith("http://a.org/a")]
    assert hosts(*stored.prefix("http://a.org/a")) == inside


def test_hosts_are_in_order_of_their_domains() -> None:
    hosts = ["a.org", "www.a.org", "a-b.org", "b.org"]
    stored = NodeNames.of(hosts)
    assert (stored.sorted, stored.site("a.org"), stored.domain("a.org")) == (True, (0, 1), (0, 2))
    assert stored.domain("org") == (0, 4)
    unordered = NodeNames.of([*reversed(hosts)])
    assert not unordered.sorted
    with pytest.raises(InvalidArgument, match="not in the order"):
        unordered.site("a.org")


def test_damage_is_an_error_never_an_answer(tmp_path: Path) -> None:
    names = [f"http://{number % 3}.example/{number}" for number in range(100)]
    length = NodeNames.of(names).save(tmp_path / "a.names")
    whole = (tmp_path / "a.names").read_bytes()
    assert len(whole) == length
    for at in range(0, length, 7):
        flipped = bytearray(whole)
        flipped[at] ^= 1
        (tmp_path / "b.names").write_bytes(flipped)
        with pytest.raises(CrivelloError):
            opened = NodeNames.open(tmp_path / "b.names", length)
            assert listed(opened) == names
            assert opened.find(names[0]) == 0
        (tmp_path / "b.names").write_bytes(whole[:at])
        with pytest.raises(CorruptFile):
            NodeNames.open(tmp_path / "b.names")
    with pytest.raises(InvalidArgument, match="name"):
        NodeNames.of(["a", "b", "a"])
