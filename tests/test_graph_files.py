"""Graph files: ours, and those of WebGraph read and written by its own library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello._core import Arcs
from crivello.errors import CorruptFile, InvalidArgument, StorageError

ROOT = Path(__file__).parent.parent
DATA = os.environ.get("CRIVELLO_DATA")


def arcs_of(lists: Sequence[Sequence[int]], *, count: bool = False) -> Arcs:
    sources = np.repeat(np.arange(len(lists), dtype=np.uint32), [len(successors) for successors in lists])
    targets = np.array([node for successors in lists for node in successors], dtype=np.uint32)
    return Arcs.from_arcs(len(lists), sources, targets, count)


def lists_of(arcs: Arcs) -> list[list[int]]:
    return [np.asarray(arcs.successors(node)).tolist() for node in range(arcs.nodes)]


def in_memory(arcs: Arcs) -> list[list[int]]:
    offsets, targets = (np.asarray(array) for array in arcs.csr()[:2])
    return [targets[offsets[node] : offsets[node + 1]].tolist() for node in range(arcs.nodes)]


def a_web(nodes: int, seed: int = 1) -> list[list[int]]:
    """Pages that share links with those before, link to runs of pages, and to any."""
    random = np.random.default_rng(seed)
    lists: list[list[int]] = []
    for node in range(nodes):
        found = set(random.integers(0, nodes, random.integers(0, 4)).tolist())
        if node and random.random() < 0.8:
            before = lists[max(0, node - int(random.integers(1, 9)))]
            found |= {target for target in before if random.random() < 0.8}
        if random.random() < 0.3:
            start = int(random.integers(0, nodes))
            found |= set(range(start, min(nodes, start + int(random.integers(2, 30)))))
        lists.append([] if random.random() < 0.1 else sorted(found))
    return lists


LISTS = st.integers(1, 40).flatmap(
    lambda nodes: st.lists(st.lists(st.integers(0, nodes - 1), max_size=30), min_size=nodes, max_size=nodes)
)


@settings(deadline=None, max_examples=50)
@given(lists=LISTS, count=st.booleans())
def test_a_file_gives_back_the_graph(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[int]], count: bool
) -> None:
    folder = tmp_path_factory.mktemp("graph")
    arcs = arcs_of(lists, count=count)
    expected = [sorted(set(successors)) for successors in lists]
    bits, length = arcs.save(folder / "a.graph")
    opened = Arcs.open(folder / "a.graph", length)
    assert (opened.nodes, opened.arcs, opened.weighted) == (arcs.nodes, arcs.arcs, count)
    assert lists_of(opened) == expected
    offsets, targets = opened.successors_of(np.arange(arcs.nodes, dtype=np.uint64))
    assert np.split(np.asarray(targets), np.asarray(offsets)[1:-1])[0].tolist() == expected[0]
    assert in_memory(opened) == expected
    for ours, theirs in zip(opened.csr(), arcs.csr(), strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or np.array_equal(np.asarray(ours), np.asarray(theirs))
    assert opened.bits_per_link == bits == arcs.bits_per_link
    assert opened.bytes == length == (folder / "a.graph").stat().st_size
    assert np.asarray(opened.degrees(True)).tolist() == np.asarray(arcs.degrees(True)).tolist()
    arcs.save_bvgraph(folder / "b")
    assert in_memory(Arcs.open_bvgraph(folder / "b")) == expected


def test_several_chunks_in_any_order(tmp_path: Path) -> None:
    lists = a_web(10_000)
    arcs = arcs_of(lists)
    bits, _ = arcs.save(tmp_path / "a.graph")
    opened = Arcs.open(tmp_path / "a.graph")
    opened.verify()
    nodes = np.random.default_rng(2).permutation(10_000).astype(np.uint64)
    offsets, targets = (np.asarray(array) for array in opened.successors_of(nodes))
    assert [part.tolist() for part in np.split(targets, offsets[1:-1].astype(np.int64))] == [
        lists[int(node)] for node in nodes
    ]
    names = [name for name, _, _ in opened.parts()]
    assert names[0] == "outdegrees"
    assert names[-1] == "weights"
    total = sum(bits for _, bits, _ in opened.parts())
    assert total / opened.arcs == pytest.approx(bits)
    assert all(sum(chunks for _, chunks in codes) == 3 for _, _, codes in opened.parts())
    # References and intervals are what makes a web small.
    assert bits < 0.9 * arcs.save(tmp_path / "b.graph", window=0)[0]
    assert bits < arcs.save(tmp_path / "b.graph", interval=0)[0]
    opened.save(tmp_path / "c.graph")
    assert (tmp_path / "c.graph").read_bytes() == (tmp_path / "a.graph").read_bytes()


def test_bad_files_are_one_clear_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    arcs = arcs_of(a_web(300))
    arcs.save(path)
    whole = path.read_bytes()
    with pytest.raises(StorageError, match="No such file"):
        Arcs.open(tmp_path / "none")
    with pytest.raises(InvalidArgument, match="at most 32"):
        arcs.save(path, chain=33)
    with pytest.raises(InvalidArgument, match="there is no node 300"):
        Arcs.open(path).successors(300)
    for wrong, said in [
        (b"", "is cut off"),
        (b"0 1\n" * 100, "does not begin as a Crivello file of kind GRPH"),
        (whole[:-1], "directory is damaged, or the file is cut off"),
        (whole + b"x", "directory is damaged, or the file is cut off"),
    ]:
        path.write_bytes(wrong)
        with pytest.raises(CorruptFile, match=said):
            Arcs.open(path)
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    opened = Arcs.open(path)
    for broken in (opened.verify, opened.csr, lambda: opened.successors(0)):
        with pytest.raises(CorruptFile, match="at byte 16: a chunk does not match its checksum"):
            broken()


def test_bad_files_of_webgraph_are_one_clear_sentence(tmp_path: Path) -> None:
    arcs_of(a_web(300)).save_bvgraph(tmp_path / "a")
    with pytest.raises(StorageError, match=r"none.properties: No such file"):
        Arcs.open_bvgraph(tmp_path / "none")
    graph, properties = tmp_path / "a.graph", tmp_path / "a.properties"
    whole, text = graph.read_bytes(), properties.read_text()
    graph.write_bytes(whole[:-8])
    with pytest.raises(CorruptFile, match="does not match its checksum"):
        Arcs.open_bvgraph(tmp_path / "a")
    # Without checksums, as others write them.
    plain = "".join(line for line in text.splitlines(True) if not line.startswith("crc32"))
    properties.write_text(plain)
    with pytest.raises(CorruptFile, match="does not hold the successors of node"):
        Arcs.open_bvgraph(tmp_path / "a")
    graph.write_bytes(whole)
    assert Arcs.open_bvgraph(tmp_path / "a").nodes == 300
    for old, new, said in [
        ("nodes=300", "nodes=x", "nodes=x is not possible"),
        ("nodes=300", "nodes=-3", "nodes=-3 is not possible"),
        ("nodes=300", "", "does not say the number of nodes"),
        ("nodes=300", "nodes=99999999999", "at most"),
        ("flags=", "flags=RESIDUALS_HUFFMAN", "RESIDUALS_HUFFMAN is not known"),
        ("version=0", "version=2", "version 2 of BVGraph"),
        ("webgraph.BVGraph", "webgraph.EFGraph", "is not a BVGraph"),
    ]:
        properties.write_text(plain.replace(old, new))
        with pytest.raises(InvalidArgument, match=said):
            Arcs.open_bvgraph(tmp_path / "a")
    properties.write_text(plain.replace("arcs=", "arcs=9"))
    with pytest.raises(CorruptFile, match="arcs fewer than its properties say"):
        Arcs.open_bvgraph(tmp_path / "a")
    properties.write_text(plain)
    offsets = (tmp_path / "a.offsets").read_bytes()
    (tmp_path / "a.offsets").write_bytes(offsets[:8] + offsets[16:])
    with pytest.raises(CorruptFile, match="this offset is another"):
        Arcs.open_bvgraph(tmp_path / "a")


@pytest.fixture
def webgraph() -> Callable[..., str]:
    """Runs WebGraph's own command."""
    places = os.pathsep.join([str(ROOT / "target/peer/bin"), os.environ.get("PATH", "")])
    command = shutil.which("webgraph", path=places)
    if command is None:
        pytest.skip("no command webgraph: cargo install webgraph-cli --root target/peer")

    def run(*arguments: str | Path, given: str = "") -> str:
        done = subprocess.run([command, *arguments], input=given, capture_output=True, text=True, check=True)
        return done.stdout

    return run


def text_of(lists: Sequence[Sequence[int]]) -> str:
    return "".join(
        f"{source}\t{target}\n" for source, successors in enumerate(lists) for target in successors
    )


@pytest.mark.parametrize(("window", "chain", "interval"), [(7, 3, 4), (0, 3, 4), (7, 3, 0), (20, 9, 2)])
def test_webgraph_reads_what_is_written_here(
    tmp_path: Path, webgraph: Callable[..., str], window: int, chain: int, interval: int
) -> None:
    lists = a_web(6000)
    arcs_of(lists).save_bvgraph(tmp_path / "a", window, chain, interval)
    assert webgraph("to", "arcs", tmp_path / "a") == text_of(lists)
    webgraph("build", "ef", tmp_path / "a")
    webgraph("check", "ef", tmp_path / "a")
    package = pytest.importorskip("webgraph", reason="the package webgraph is not installed")
    peer = package.BvGraph(str(tmp_path / "a"))
    assert (peer.num_nodes(), peer.num_arcs()) == (6000, sum(map(len, lists)))
    assert [sorted(peer.successors(node)) for node in range(6000)] == lists


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--endianness", "little"],
        ["--compression-window", "0", "--min-interval-length", "0"],
        ["--bvgraphz", "--max-ref-count", "-1", "--compression-window", "30"],
        ["--outdegrees", "delta", "--references", "gamma", "--blocks", "omega", "--residuals", "zeta5"],
        ["--residuals", "pi2", "--outdegrees", "pi1"],
    ],
)
def test_what_webgraph_writes_is_read_here(
    tmp_path: Path, webgraph: Callable[..., str], options: list[str]
) -> None:
    lists = a_web(3000)
    webgraph("from", "arcs", "--num-nodes", "3000", *options, tmp_path / "a", given=text_of(lists))
    assert in_memory(Arcs.open_bvgraph(tmp_path / "a")) == lists
    (tmp_path / "a.offsets").unlink()
    assert in_memory(Arcs.open_bvgraph(tmp_path / "a")) == lists


@pytest.mark.skipif(DATA is None, reason="CRIVELLO_DATA is not set")
def test_wiki_vote_takes_less_than_webgraph_needs(tmp_path: Path) -> None:
    assert DATA is not None
    pairs = np.loadtxt(Path(DATA) / "graph" / "wiki-Vote.txt", dtype=np.int64)
    ids, numbers = np.unique(pairs, return_inverse=True)
    ends = numbers.reshape(pairs.shape).astype(np.uint32)
    arcs = Arcs.from_arcs(len(ids), np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]), False)
    assert (arcs.nodes, arcs.arcs) == (7115, 103_689)
    theirs = arcs.save_bvgraph(tmp_path / "w")
    ours, _ = arcs.save(tmp_path / "w.crivello")
    assert ours < theirs
    assert in_memory(Arcs.open(tmp_path / "w.crivello")) == in_memory(arcs)
    assert in_memory(Arcs.open_bvgraph(tmp_path / "w")) == in_memory(arcs)


def test_bytes_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    arcs_of(a_web(9000)).save(tmp_path / "a.graph")
    program = "import sys; from crivello._core import Arcs; Arcs.open(sys.argv[1]).save(sys.argv[2])"
    for threads in ("1", "3"):
        other = tmp_path / threads
        command = [sys.executable, "-c", program, str(tmp_path / "a.graph"), str(other)]
        subprocess.run(command, env={**os.environ, "RAYON_NUM_THREADS": threads}, check=True)
        assert other.read_bytes() == (tmp_path / "a.graph").read_bytes()
