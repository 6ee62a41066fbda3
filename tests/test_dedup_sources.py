"""Every form of a corpus: what is read from it, and what a copy without duplicates has."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

import crivello
from crivello import _core, dedup
from crivello.archives import read
from crivello.dedup.options import Unit
from crivello.dedup.units import split
from crivello.errors import InvalidArgument, StorageError
from tests.corpora import read_json_lines, write_json_lines
from tests.crawling import CRIVELLO

TEXTS = ["one two three", "four five", "one two three", "six", "four five", 'a "quoted"\tword, é']
KEPT = [0, 1, 3, 5]


def run(source: Path | list[Path], **options: Any) -> dedup.Report:
    return dedup.run(source, **{"method": "exact", **options})


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_lines_that_stay_are_copied_byte_for_byte(tmp_path: Path, ending: str) -> None:
    lines = [
        json.dumps({"n": number, "text": text}, ensure_ascii=number % 2 == 0)
        for number, text in enumerate(TEXTS)
    ]
    lines[1] = '  {"text" : "four five"  , "n": 1.50e3}'
    raw = "\n".join(lines).encode()
    packed = {"": raw, ".gz": gzip.compress(raw), ".zst": zstandard.compress(raw)}[ending]
    source, out = tmp_path / f"in.jsonl{ending}", tmp_path / f"out.jsonl{ending}"
    source.write_bytes(packed)
    report = run(source, out=out, clusters=tmp_path / "clusters.jsonl")
    assert (report.documents, report.kept, report.dropped, report.clusters) == (6, 4, 2, 2)
    written = out.read_bytes()
    if ending == ".gz":
        written = gzip.decompress(written)
    elif ending == ".zst":
        written = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(written)).read()
    assert written.decode().splitlines() == [lines[number] for number in KEPT]
    assert read_json_lines(tmp_path / "clusters.jsonl") == [
        {"keep": "1", "drop": ["3"]},
        {"keep": "2", "drop": ["5"]},
    ]


def test_ids_are_the_field_the_url_or_the_line(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 7, "text": "a"},
        {"url": "https://a.example/", "text": "a"},
        {"text": "a"},
        {"id": "", "url": None, "text": "a"},
    ]
    source = write_json_lines(tmp_path / "a.jsonl", rows)
    run(source, clusters=tmp_path / "c")
    assert read_json_lines(tmp_path / "c") == [{"keep": 7, "drop": ["https://a.example/", "3", "4"]}]
    lists = write_json_lines(tmp_path / "l.jsonl", [{"url": ["https://a.example/"], "text": "a"}] * 2)
    run(lists, clusters=tmp_path / "c")
    assert read_json_lines(tmp_path / "c") == [{"keep": "1", "drop": ["2"]}]
    body = write_json_lines(tmp_path / "b.jsonl", [{"key": n, "body": "x"} for n in "ab"])
    run(body, field="body", id="key", clusters=tmp_path / "c")
    assert read_json_lines(tmp_path / "c") == [{"keep": "a", "drop": ["b"]}]


@pytest.mark.parametrize(("row", "flag"), [({"id": [7], "text": "a"}, "--id"), ({"text": [7]}, "--field")])
def test_a_field_of_another_type_is_named_by_its_flag(tmp_path: Path, row: dict[str, Any], flag: str) -> None:
    source = write_json_lines(tmp_path / "a.jsonl", [row])
    with pytest.raises(InvalidArgument, match="line 1") as caught:
        run(source, clusters=tmp_path / "c")
    assert (caught.value.hint or "").startswith(flag)


def test_blank_lines_are_no_documents(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('\ufeff{"text": "a"}\n\n  \n{"text": "b"}\r\n{"text": "a"}')
    assert run(source, out=tmp_path / "b.jsonl", clusters=tmp_path / "c").documents == 3
    assert (tmp_path / "b.jsonl").read_bytes() == b'{"text": "a"}\n{"text": "b"}\r\n'
    assert read_json_lines(tmp_path / "c") == [{"keep": "1", "drop": ["5"]}]


def test_invalid_utf8_and_surrogates_are_texts_like_others(tmp_path: Path) -> None:
    lines = [
        b'{"text": "\xff"}',
        b'{"text": "\\ud800"}',
        b'{"text": "b"}',
        b'{"text": "\xff"}',
        b'{"text": null}',
    ]
    source = tmp_path / "a.jsonl"
    source.write_bytes(b"\n".join(lines))
    report = run(source, out=tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes().splitlines()[0] == lines[0]
    assert report.documents == 5 and report.kept in (3, 4)
    text = tmp_path / "a.txt"
    text.write_bytes(b"\xff\n\xfe\nb\n\xff\n")
    run(text, out=tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_bytes() == b"\xff\n\xfe\nb\n"


def test_text_has_a_document_a_line(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("".join(f"{text}\n" for text in TEXTS))
    run(source, out=tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_text().splitlines() == [TEXTS[number] for number in KEPT]


@pytest.mark.parametrize(("ending", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_tables_keep_their_columns(tmp_path: Path, ending: str, delimiter: str) -> None:
    rows = [[str(number), text, f"{number}\n{number}"] for number, text in enumerate(TEXTS)]
    source, out = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    with source.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([["id", "text", "more"], *rows])
    run(source, out=out, clusters=tmp_path / "c")
    with out.open(newline="") as file:
        assert list(csv.reader(file, delimiter=delimiter)) == [
            ["id", "text", "more"],
            *(rows[number] for number in KEPT),
        ]
    assert read_json_lines(tmp_path / "c")[0] == {"keep": "0", "drop": ["2"]}
    run([source, source], out=out)
    assert out.read_text().count("text") == 1


def test_columns_of_several_tables_are_found_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "0.csv").write_text("")
    (tmp_path / "1.csv").write_text("id,text,more\n1,one,a\n2,two,b\n")
    (tmp_path / "2.tsv").write_text("text\tmore\tid\nthree,3\tc\t3\none\td\t4\nfive\te\nsix\tf\t6\tg\n")
    (tmp_path / "3.csv").write_text("id;text;more\n7;seven;h\n")
    out = tmp_path / "out.csv"
    done = subprocess.run(
        [str(CRIVELLO), "dedup", "0.csv", "1.csv", "2.tsv", "3.csv", "--method", "exact", "--out", "out.csv"],
        capture_output=True, cwd=tmp_path, timeout=60, text=True,
    )  # fmt: skip
    assert done.returncode == 2 and "2.tsv, row 3 has 2 columns" in done.stderr
    table = tmp_path / "2.tsv"
    table.write_text(table.read_text().replace("\te\n", "\te\t5\n"))
    run(sorted(tmp_path.glob("?.?sv")), out=out)
    assert out.read_text().splitlines() == [
        "id,text,more", "1,one,a", "2,two,b", '3,"three,3",c', "5,five,e", "6,six,f,g", "7,seven,h",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("id,text\n", "text,words,id\n", "b.csv has a column 'words', which .*a.csv has not"),
        ("id,text\n", "text\n", "b.csv has no column 'id', which .*a.csv has"),
        ("id,text,x,x\n", "x,id,text,x\n", "'x' more than once"),
        ("id,text,x,x\n", "x,id,text\n", "'x' more than once"),
    ],
)
def test_tables_of_other_columns_are_not_joined(tmp_path: Path, first: str, second: str, said: str) -> None:
    sources = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for source, header in zip(sources, (first, second), strict=True):
        source.write_text(header)
    with pytest.raises(InvalidArgument, match=said):
        run(sources, out=tmp_path / "out.csv")
    run(sources, out=tmp_path / "out.jsonl")
    run(sources, out=f"{tmp_path}/out/")
    assert (tmp_path / "out" / "b.csv").read_text() == second


@pytest.mark.parametrize("unit", ["document", "paragraph"])
@pytest.mark.parametrize("name", ["file_row_number", "File_Row_Number", "n"])
def test_a_copy_of_parquet_has_the_same_columns(tmp_path: Path, name: str, unit: str) -> None:
    source, out = tmp_path / "year=2020" / "month=05" / "a.parquet", tmp_path / "b.parquet"
    source.parent.mkdir(parents=True)
    rows = [(number + 7, text, None) for number, text in enumerate(TEXTS)]
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t ({name} INTEGER, text VARCHAR, {name}_ INTEGER)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        database.execute(f"COPY t TO '{source}'")
        assert run(source, out=out, unit=unit).kept == 4
        found = database.execute(f"SELECT * FROM read_parquet('{out}', hive_partitioning = false)")
        assert [column[0] for column in found.description or ()] == [name, "text", f"{name}_"]
        assert found.fetchall() == [rows[number] for number in KEPT]


@pytest.mark.parametrize("unit", ["document", "paragraph"])
def test_parquet_keeps_its_columns_and_order(tmp_path: Path, unit: str) -> None:
    source, out = tmp_path / "a.parquet", tmp_path / "b.parquet"
    with duckdb.connect() as database:
        database.execute("CREATE TABLE t (id INTEGER, text VARCHAR, tags VARCHAR[])")
        database.executemany(
            "INSERT INTO t VALUES (?, ?, ?)",
            [(number, TEXTS[number % 6], ["x"]) for number in range(3000)],
        )
        database.execute(f"COPY t TO '{source}' (ROW_GROUP_SIZE 2048)")
        report = run(source, out=out, unit=unit, clusters=tmp_path / "c")
        assert (report.documents, report.kept, report.largest) == (3000, 4, 1000)
        found = database.execute(f"SELECT * FROM '{out}'").fetchall()
    assert found == [(number, TEXTS[number], ["x"]) for number in KEPT]
    assert read_json_lines(tmp_path / "c")[0]["keep"] == (0 if unit == "document" else "0#1")


def test_folders_are_copied_without_some_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("one")
    (folder / "b.bin").write_bytes(b"\x00\xff\xfe")
    (folder / "c.html").write_text("<title>t</title><p>some <b>words</b>")
    (folder / "sub" / "d.html").write_text("<p>some words")
    (folder / "sub" / "e.bin").write_bytes(b"\x00\xff\xff")
    (folder / "sub" / "f.txt").write_text("one")
    out = tmp_path / "out"
    report = run(folder, out=f"{out}/", clusters=tmp_path / "c")
    assert report.documents == 6 and report.dropped == 2
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    assert files == ["a.txt", "b.bin", "c.html", "sub/e.bin"]
    assert {"keep": "a.txt", "drop": ["sub/f.txt"]} in read_json_lines(tmp_path / "c")
    with pytest.raises(InvalidArgument, match="is not empty"):
        run(folder, out=f"{out}/")
    run(folder, out=tmp_path / "out.jsonl")
    assert read_json_lines(tmp_path / "out.jsonl")[0] == {"id": "a.txt", "text": "one"}


def record(url: str, body: str, kind: str = "response", media_type: str = "text/html") -> bytes:
    fields = [("WARC-Target-URI", url), ("WARC-Date", "2026-05-01T12:00:00Z")]
    if kind == "response":
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n".encode()
        return _core.warc_record(kind, [*fields, ("Content-Type", "application/http")], head, body.encode())
    return _core.warc_record(kind, [*fields, ("Content-Type", media_type)], b"", body.encode())


PAGES = {
    "https://a.example/": "<title>A</title><p>the same words",
    "https://b.example/": "<p>other words",
    "https://c.example/": "<h1></h1><p>the   same words",
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    members = [record("urn:x", "software: x", "warcinfo", "application/warc-fields")]
    for url, page in PAGES.items():
        members += [record(url, page), record(url, "GET", "request", "application/http")]
    members.insert(3, record("https://a.example/p.png", "\0\1", "response", "image/png"))
    path = tmp_path / "in.warc.gz"
    path.write_bytes(b"".join(members))
    return path


def test_a_page_without_a_date_is_a_document(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    kinds = [[], [("WARC-Date", "yesterday")], [("WARC-Date", "2026-05-01T12:00:00Z")]]
    records = [
        _core.warc_record(
            "response",
            [("WARC-Target-URI", f"https://a.example/{number}"), *date, ("Content-Type", "application/http")],
            head,
            b"<p>the same words",
        )
        for number, date in enumerate(kinds)
    ]
    source, out = tmp_path / "in.warc.gz", tmp_path / "out.warc.gz"
    source.write_bytes(b"".join(records))
    report = run(source, out=out)
    assert (report.documents, report.kept) == (3, 1)
    assert out.read_bytes() == records[0]


def test_records_are_copied_as_they_are(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.warc.gz"
    report = run(archive, out=out, clusters=tmp_path / "c", ignore=["space"])
    assert (report.documents, report.kept) == (3, 2)
    assert read_json_lines(tmp_path / "c") == [{"keep": "https://a.example/", "drop": ["https://c.example/"]}]
    before, after = list(read(archive)), list(read(out))
    dropped = next(
        record for record in before if record.url == "https://c.example/" and record.kind == "response"
    )
    assert [one.fields for one in after] == [one.fields for one in before if one.offset != dropped.offset]
    assert out.read_bytes()[: dropped.offset] == archive.read_bytes()[: dropped.offset]
    run(archive, out=tmp_path / "out.jsonl", ignore=["space"])
    assert read_json_lines(tmp_path / "out.jsonl") == [
        {"id": "https://a.example/", "text": "the same words"},
        {"id": "https://b.example/", "text": "other words"},
    ]


@pytest.mark.parametrize("packing", ["plain", "one member", "zstd"])
def test_archives_of_every_packing_lose_the_same_records(archive: Path, tmp_path: Path, packing: str) -> None:
    plain = gzip.decompress(archive.read_bytes())
    ending = {"plain": ".warc", "one member": ".warc.gz", "zstd": ".warc.zst"}[packing]
    source, out = tmp_path / f"packed{ending}", tmp_path / f"out{ending}"
    if packing == "zstd":
        parts = [gzip.decompress(record(url, page)) for url, page in PAGES.items()]
        source.write_bytes(b"".join(map(zstandard.compress, parts)))
    else:
        source.write_bytes(plain if packing == "plain" else gzip.compress(plain))
    assert run(source, out=out, ignore=["space"]).dropped == 1
    responses = [one.url for one in read(out) if one.kind == "response" and not one.url.endswith(".png")]
    assert responses == ["https://a.example/", "https://b.example/"]
    assert all(one.response() for one in read(out) if one.kind == "response")


@pytest.mark.parametrize("ending", [".warc", ".warc.gz", ".warc.zst"])
def test_archives_are_compressed_as_the_name_of_the_copy_says(tmp_path: Path, ending: str) -> None:
    members = [
        record(f"https://{name}.example/", f"<p>words of {name[0]}") for name in ("a", "b", "c", "d", "aa")
    ]
    plain = [gzip.decompress(member) for member in members]
    records = b"".join(plain)
    inputs = {
        "1.warc": records,
        "2.warc.gz": b"".join(members),
        "3.warc.gz": gzip.compress(records),
        "4.warc.zst": b"".join(map(zstandard.compress, plain)),
        "5.warc.zst": b"".join(map(zstandard.compress, plain)),
    }
    for name, content in inputs.items():
        (tmp_path / name).write_bytes(content)
    wanted = [(one.fields, one.block) for one in read(tmp_path / "1.warc")][:4]
    out = tmp_path / f"out{ending}"
    assert run([tmp_path / name for name in inputs], out=out).kept == 4
    (tmp_path / "kept").mkdir()
    for name in inputs:
        run(tmp_path / name, out=tmp_path / "kept" / f"{name}{ending}")
    everything = [out, *sorted((tmp_path / "kept").iterdir())]
    for copy in everything:
        content = copy.read_bytes()
        if ending == ".warc.gz":
            with copy.open("rb") as file:
                found = [
                    one.rec_headers["WARC-Target-URI"] for one in ArchiveIterator(file, check_digests="raise")
                ]
            assert found == [f"https://{name}.example/" for name in "abcd"]
            content = gzip.decompress(content)
        elif ending == ".warc.zst":
            content = zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True).read()
        assert [(one.fields, one.block) for one in read(copy)] == wanted, copy
        if copy.name[0] in "12":
            assert content == b"".join(plain[:4])


def test_the_last_of_several_archives_is_compressed_like_the_first(tmp_path: Path) -> None:
    urls = [f"https://{name}.example/" for name in "abcdef"]
    members = [record(url, f"<p>words of {url}") for url in urls]
    plain = [gzip.decompress(member) for member in members]
    (tmp_path / "1.warc").write_bytes(b"".join(plain[:2]))
    (tmp_path / "2.warc.gz").write_bytes(b"".join(members[2:4]))
    dictionary = zstandard.train_dictionary(
        300, [gzip.decompress(record(f"https://{n}.example/", "<p>")) for n in range(99)]
    )
    frame = b"\x5d\x2a\x4d\x18" + len(dictionary.as_bytes()).to_bytes(4, "little") + dictionary.as_bytes()
    pack = zstandard.ZstdCompressor(dict_data=dictionary).compress
    for name, some in (("3.warc.zst", plain[4:5]), ("4.warc.zst", plain[5:])):
        (tmp_path / name).write_bytes(frame + b"".join(map(pack, some)))
    sources = sorted(tmp_path.glob("?.warc*"))
    for name in ("out.warc.gz", "out.warc", "out.warc.zst"):
        run(sources, out=tmp_path / name)
        assert [one.url for one in read(tmp_path / name)] == urls
    copied = (tmp_path / "out.warc").read_bytes()
    assert copied.startswith(b"".join(plain[:4])) and copied.count(b"WARC/1.1\r\n") == 6
    # What lies in the right form already is copied byte by byte.
    assert b"".join(members[2:4]) in (tmp_path / "out.warc.gz").read_bytes()
    run(sources[:1], out=f"{tmp_path}/folder/")
    assert (tmp_path / "folder" / "1.warc").read_bytes() == b"".join(plain[:2])


def test_damage_is_left_out_of_a_copy(archive: Path, tmp_path: Path) -> None:
    run(archive, out=tmp_path / "whole.warc.gz")
    content, place = archive.read_bytes(), list(read(archive))[-2].offset
    archive.write_bytes(content[:place] + b"garbage" + content[place:])
    damage: list[object] = []
    run(archive, out=tmp_path / "out.warc.gz")
    found = [one.fields for one in read(tmp_path / "out.warc.gz", on_damage=damage.append)]
    assert damage == [] and found == [one.fields for one in read(tmp_path / "whole.warc.gz")]


def test_wet_files_and_other_texts(tmp_path: Path) -> None:
    urls = [f"https://{name}.example/" for name in "abc"]
    texts = ["words of a page", "others", "words of a page"]
    members = [record(url, text, "conversion", "text/plain") for url, text in zip(urls, texts, strict=True)]
    source = tmp_path / "a.warc.wet.gz"
    source.write_bytes(b"".join(members))
    run(source, out=tmp_path / "b.warc.wet.gz")
    assert (tmp_path / "b.warc.wet.gz").read_bytes() == b"".join(members[:2])


def test_a_collection_is_a_corpus(archive: Path, tmp_path: Path) -> None:
    with crivello.create(tmp_path / "c") as collection:
        collection.import_([archive], progress=False)
        report = collection.dedup(method="exact", ignore=["space"], out=tmp_path / "out.warc.gz")
        assert (report.documents, report.kept) == (3, 2)
    pages = [one.url for one in read(tmp_path / "out.warc.gz") if one.kind == "response"]
    assert pages == ["https://a.example/", "https://b.example/"]
    run(tmp_path / "c", ignore=["space"], out=tmp_path / "out.warc")
    assert (tmp_path / "out.warc").read_bytes() == gzip.decompress((tmp_path / "out.warc.gz").read_bytes())


def test_several_inputs_go_into_one_file_or_into_a_folder(tmp_path: Path) -> None:
    one = write_json_lines(tmp_path / "one.jsonl", [{"text": "a"}, {"text": "b"}])
    two = write_json_lines(tmp_path / "two.jsonl", [{"text": "b"}, {"text": "c"}])
    run([one, two], out=tmp_path / "all.jsonl", clusters=tmp_path / "c")
    assert [row["text"] for row in read_json_lines(tmp_path / "all.jsonl")] == ["a", "b", "c"]
    assert read_json_lines(tmp_path / "c") == [{"keep": f"{one}:2", "drop": [f"{two}:1"]}]
    run(str(tmp_path / "[ot][nw][eo].jsonl"), out=f"{tmp_path}/clean/")  # type: ignore[arg-type]
    assert [row["text"] for row in read_json_lines(tmp_path / "clean" / "two.jsonl")] == ["c"]
    with pytest.raises(InvalidArgument, match="would be overwritten"):
        run(one, out=f"{tmp_path}/")
    text = tmp_path / "t.txt"
    text.write_text("a\n")
    with pytest.raises(InvalidArgument, match="inputs of different forms"):
        run([one, text], out=tmp_path / "x")
    run([one, text], out=tmp_path / "x.jsonl")
    assert len(read_json_lines(tmp_path / "x.jsonl")) == 2


def test_standard_input_and_output(tmp_path: Path) -> None:
    command = [str(CRIVELLO), "dedup", "-", "--method", "exact", "--out", "-"]
    done = subprocess.run(command, input=b"a\nb\na\n", capture_output=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"a\nb\n")
    assert b"dropped" in done.stderr and list(tmp_path.iterdir()) == []


@given(st.text(alphabet=" \nab\t\r", max_size=60), st.sampled_from([Unit.LINE, Unit.PARAGRAPH]))
def test_units_make_up_the_text(text: str, unit: Unit) -> None:
    units = split(text, unit)
    assert "".join(units) == (text if text.strip() else "")
    assert all(one.strip() for one in units)
    if unit is Unit.LINE:
        assert len(units) == sum(1 for line in text.split("\n") if line.strip())
    assert all("\n\n" not in one.strip() for one in units)


@pytest.mark.parametrize(("unit", "gap"), [("line", "\n"), ("paragraph", "\n\n")])
def test_units_are_removed_and_documents_without_any_left(tmp_path: Path, unit: str, gap: str) -> None:
    texts = [["one", "two"], ["two", "three"], ["one", "two"], [], ["four", "four"]]
    rows = [{"text": gap.join(units), "n": n} for n, units in enumerate(texts)]
    source = write_json_lines(tmp_path / "a.jsonl", rows)
    report = run(source, unit=unit, out=tmp_path / "b.jsonl", pairs=tmp_path / "p")
    assert read_json_lines(tmp_path / "b.jsonl") == [
        {"text": f"one{gap}two", "n": 0},
        {"text": "three", "n": 1},
        {"text": "", "n": 3},
        {"text": "four", "n": 4},
    ]
    assert (report.documents, report.kept, report.units, report.units_kept) == (5, 4, 8, 4)
    assert {"a": "1#2", "b": "2#1", "similarity": 1.0} in read_json_lines(tmp_path / "p")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'{"text": "a"}\nnope\n', "a.jsonl, line 2 is not JSON"),
        ("a.jsonl", b'{"text": "a"}\n{"body": "a"}\n', "a.jsonl, line 2 has no field 'text'"),
        ("a.jsonl", b'{"text": 7}\n', "a.jsonl, line 1: expected `str"),
        ("a.jsonl", b"{" * 100_000, "a.jsonl, line 1 is not JSON"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "a"}\n' * 99, mtime=0)[:-12], "is damaged or cut off"),
        ("a.csv", b"id,words\n1,a\n", "a.csv has no column 'text', only id, words"),
        ("a.csv", b"id,text\n1,a\n2\n", "a.csv, row 2 has 1 columns"),
        ("a.parquet", b"PAR1 and no more", "a.parquet is not a Parquet file that can be read"),
        ("a.dat", b"\0\1\2" * 99, "a.dat is a binary file of no known format"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((InvalidArgument, StorageError)) as caught:
        run(tmp_path / name, out=tmp_path / "out")
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.csv"])
def test_an_empty_corpus_is_no_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    report = run(
        tmp_path / name, out=tmp_path / f"out-{name}", clusters=tmp_path / "c", report=tmp_path / "r"
    )
    assert (report.documents, report.kept, report.clusters, report.largest) == (0, 0, 0, 0)
    assert (tmp_path / f"out-{name}").read_bytes() == (tmp_path / "c").read_bytes() == b""


def test_outputs_are_no_inputs(tmp_path: Path) -> None:
    source = write_json_lines(tmp_path / "a.jsonl", [{"text": "a"}, {"text": "a"}])
    before = source.read_bytes()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("a")
    (tmp_path / "link").symlink_to(source)
    for flags in ({"out": source}, {"clusters": source}, {"pairs": tmp_path / "link"}):
        with pytest.raises(InvalidArgument, match="is an input, and would be overwritten"):
            run(source, **flags)
    with pytest.raises(InvalidArgument, match="is an input, and would be overwritten"):
        run(tmp_path / "folder", against=[source], clusters=source)
    with pytest.raises(InvalidArgument, match="is named for two outputs"):
        run(source, out=tmp_path / "b", clusters=tmp_path / "b")
    for places in ({"out": f"{tmp_path}/folder/clean/"}, {"work": tmp_path / "folder"}):
        with pytest.raises(InvalidArgument, match="would be among the files of the input"):
            run(tmp_path / "folder", **places)
    assert source.read_bytes() == before
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.jsonl", "a.txt", "folder", "link"]


def test_the_same_file_twice_and_a_folder_without_files(tmp_path: Path) -> None:
    source = write_json_lines(tmp_path / "a.jsonl", [{"text": "a"}, {"text": "b"}])
    report = run([source, source], out=tmp_path / "out.jsonl")
    assert (report.documents, report.kept) == (4, 2)
    assert (tmp_path / "out.jsonl").read_bytes() == source.read_bytes()
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty", out=f"{tmp_path}/clean/").documents == 0


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="there is no file"):
        run(tmp_path / "nowhere")
    with pytest.raises(InvalidArgument, match="there is no input"):
        run([])
