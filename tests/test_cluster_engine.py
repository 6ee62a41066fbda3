"""Which Ray cluster a process is in."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from crivello.cluster import engine
from crivello.errors import CrawlError

_NOWHERE = ["127.0.0.1:1", "nowhere.invalid:6379"]


@pytest.mark.parametrize("address", _NOWHERE)
def test_a_cluster_that_is_not_there_is_said_at_once(address: str) -> None:
    with (
        pytest.raises(CrawlError, match=f"there is no Ray cluster at {address}: "),
        engine.connected(address),
    ):
        pass


@pytest.mark.parametrize("address", _NOWHERE)
def test_it_is_said_also_in_a_process_that_is_in_a_cluster(address: str, ray: Any) -> None:
    assert ray.is_initialized()
    test_a_cluster_that_is_not_there_is_said_at_once(address)


def test_the_cluster_of_the_process_is_not_taken_for_another_one(ray: Any) -> None:
    own = engine.address_of(ray)
    for address in ("", "auto", own, f"localhost:{own.rpartition(':')[2]}"):
        with engine.connected(address) as joined:
            assert joined is ray and ray.is_initialized()
    with socket.create_server(("127.0.0.1", 0)) as server:
        other = f"127.0.0.1:{server.getsockname()[1]}"
        with (
            pytest.raises(
                CrawlError, match=f"has joined the Ray cluster at {own}, and cannot join the one at {other}"
            ),
            engine.connected(other),
        ):
            pass
    assert ray.is_initialized()
