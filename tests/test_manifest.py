"""The manifest rule: what was committed stays, what was not is gone, damage is named."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello import Collection
from crivello._core import Layout
from crivello.errors import (
    CollectionError,
    CollectionInUse,
    CorruptFile,
    NewerFormat,
    NotACollection,
    StorageError,
)

NAME = "table/data.log"


def append(collection: Collection, content: bytes, name: str = NAME) -> int:
    file = collection.folder / name
    with file.open("ab") as out:
        out.write(content)
    return file.stat().st_size


@settings(deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=20), st.booleans()), max_size=12))
def test_opening_goes_back_to_the_last_commit(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bytes, bool]]
) -> None:
    folder = tmp_path_factory.mktemp("c") / "collection"
    collection = Collection.write(folder, create=True)
    written = committed = b""
    for content, commits in steps:
        length = append(collection, content)
        written += content
        if commits:
            collection.commit({NAME: length}, part={"length": length})
            committed = written
    collection.close()
    with Collection.write(folder) as again:
        file = folder / NAME
        assert (file.read_bytes() if file.exists() else b"") == committed
        assert again.length(NAME) == len(committed)
        assert again.state("part") == (
            {"length": len(committed)} if any(commits for _, commits in steps) else {}
        )


def test_files_that_no_commit_names_are_removed(tmp_path: Path) -> None:
    with Collection.write(tmp_path / "c", create=True) as collection:
        collection.commit({"index/a": append(collection, b"a", "index/a")})
        append(collection, b"b", "index/b")
    with Collection.write(tmp_path / "c") as collection:
        assert [file.name for file in (collection.folder / "index").iterdir()] == ["a"]
        collection.commit({"index/a": None})
        assert not (collection.folder / "index/a").exists()
        assert dict(collection.files) == {}


def test_a_folder_with_an_owner_is_left_alone_but_must_be_there(tmp_path: Path) -> None:
    Collection.write(tmp_path / "c", create=True).close()
    database = tmp_path / "c" / "frontier" / "lsm"
    for file in (database / "a", database / "deep" / "b"):
        file.parent.mkdir(parents=True)
        file.write_bytes(b"content")
    with Collection.write(tmp_path / "c") as collection:
        assert not (database / "a").exists()
        (database / "a").write_bytes(b"content")
        collection.commit({"frontier/lsm/": 0})
    with Collection.write(tmp_path / "c"):
        assert (database / "a").read_bytes() == b"content"
    shutil.rmtree(database)
    with pytest.raises(CorruptFile, match="lsm/ is damaged at byte 0: it is missing"):
        Collection.write(tmp_path / "c")


def test_a_file_that_lost_bytes_is_named(tmp_path: Path) -> None:
    with Collection.write(tmp_path / "c", create=True) as collection:
        collection.commit({NAME: append(collection, b"0123456789")})
    os.truncate(tmp_path / "c" / NAME, 4)
    with pytest.raises(CorruptFile, match="at byte 4: it ends here, and 10 bytes were committed") as error:
        Collection.write(tmp_path / "c")
    assert error.value.path == tmp_path / "c" / NAME
    assert error.value.offset == 4


def test_a_second_writer_is_kept_out_and_readers_are_free(tmp_path: Path) -> None:
    with Collection.write(tmp_path / "c", create=True):
        with pytest.raises(CollectionInUse, match=f"process {os.getpid()} is writing"):
            Collection.write(tmp_path / "c")
        Collection(tmp_path / "c").close()
    Collection.write(tmp_path / "c").close()


def _hold(folder: Path, ready: multiprocessing.synchronize.Event) -> None:
    with Collection.write(folder):
        ready.set()
        signal.pause()


def test_the_lock_of_a_killed_writer_is_free(tmp_path: Path) -> None:
    Collection.write(tmp_path / "c", create=True).close()
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(tmp_path / "c", ready))
    holder.start()
    assert ready.wait(30)
    with pytest.raises(CollectionInUse, match=f"process {holder.pid}"):
        Collection.write(tmp_path / "c")
    holder.kill()
    holder.join()
    Collection.write(tmp_path / "c").close()


def test_a_reader_writes_nothing(tmp_path: Path) -> None:
    Collection.write(tmp_path / "c", create=True).close()
    with pytest.raises(CollectionError, match="reading only"):
        Collection(tmp_path / "c").commit({})


def test_a_reader_sees_later_commits(tmp_path: Path) -> None:
    with Collection.write(tmp_path / "c", create=True) as writer:
        reader = Collection(tmp_path / "c")
        assert not reader.refresh()
        writer.commit({}, part={"x": 1})
        assert reader.refresh()
        assert reader.state("part") == {"x": 1}


def test_what_is_no_collection_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotACollection, match="is not a collection"):
        Collection(tmp_path)
    with pytest.raises(NotACollection):
        Collection.write(tmp_path / "missing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotACollection):
        Collection(tmp_path / "file")
    with pytest.raises(CollectionError, match="exists and is not a collection"):
        Collection.write(tmp_path, create=True)
    with pytest.raises(CollectionError, match="exists and is not a collection"):
        Collection.write(tmp_path / "file", create=True)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"files": 3}', '{"format": "x"}'])
def test_a_broken_manifest_is_damage(tmp_path: Path, content: str) -> None:
    Collection.write(tmp_path / "c", create=True).close()
    (tmp_path / "c" / Layout.MANIFEST).write_text(content)
    with pytest.raises(CorruptFile, match=r"manifest\.json is damaged"):
        Collection(tmp_path / "c")


def test_a_newer_manifest_is_refused(tmp_path: Path) -> None:
    Collection.write(tmp_path / "c", create=True).close()
    file = tmp_path / "c" / Layout.MANIFEST
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 99}))
    with pytest.raises(NewerFormat, match="format version 99"):
        Collection(tmp_path / "c")


def test_a_disk_that_refuses_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"Not a directory|Permission denied|No such"):
        Collection.write("/proc/nowhere/c", create=True)
    with Collection.write(tmp_path / "c", create=True) as collection:
        before = (collection.folder / Layout.MANIFEST).read_bytes()
        (collection.folder / "manifest.json.new").mkdir()
        with pytest.raises(StorageError):
            collection.commit({}, part={"x": 1})
        assert (collection.folder / Layout.MANIFEST).read_bytes() == before
        assert collection.state("part") == {}
