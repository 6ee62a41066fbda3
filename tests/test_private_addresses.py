"""Private addresses are never entered from a public page, by whatever way it leads there.

The servers of the other tests are all on the loopback, which is private; so these run in a network namespace that
has public addresses (see ``tests.public_network``), where the kernel lets us make one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.public_network import ASTRAY, CHANGING_PAGES, LOOPBACK, PORT, PUBLIC

UNSHARE = ("unshare", "--net")
URL = f"http://{{}}.test:{PORT}{{}}"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    try:
        subprocess.run(
            [*UNSHARE, "ip", "link", "set", "lo", "up"], check=True, capture_output=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"no network namespace can be made here: {error}")
    folder: Path = tmp_path_factory.mktemp("public")
    done = subprocess.run(
        [*UNSHARE, sys.executable, "-m", "tests.public_network", str(folder)],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=Path(__file__).parent.parent,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_nobody_came_to_the_loopback(found: dict[str, Any]) -> None:
    assert found["asked"][PUBLIC] > 2 * CHANGING_PAGES
    assert LOOPBACK not in found["asked"]


@pytest.mark.parametrize("path", ASTRAY)
def test_a_redirect_to_a_private_address_is_refused(path: str, found: dict[str, Any]) -> None:
    assert found["astray"][URL.format("public", path)] == "redirected"
    target = ASTRAY[path].replace("2130706433", "127.0.0.1").replace("[::ffff:127.0.0.1]", "[::ffff:7f00:1]")
    assert found["astray"][target] == "private address"


def test_of_several_addresses_the_public_ones_are_used(found: dict[str, Any]) -> None:
    pages = [f"/page-{number}" for number in range(1, CHANGING_PAGES)]
    for name in ("public", "both"):
        assert {found["astray"][URL.format(name, path)] for path in ("/", *pages)} == {"fetched"}


def test_a_name_that_moves_to_the_loopback_is_pinned_and_then_refused(found: dict[str, Any]) -> None:
    before, after = found["changing"]
    fetched = {url for url, outcome in before.items() if outcome == "fetched"}
    assert len(fetched) == len(before) == 3
    assert found["names"]["changing.test"] >= 2
    assert len(after) == CHANGING_PAGES
    assert {outcome for url, outcome in after.items() if url not in fetched} == {"private address"}
