"""Inputs that are odd, damaged or wrong: each is read as it is meant, or refused in one sentence that says where."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow
import pytest
import zstandard

from crivello import _core, dedup
from crivello.errors import InvalidArgument
from tests.corpora import read_json_lines
from tests.shell import CRIVELLO, says


def run(source: Path | list[Path], **options: Any) -> dedup.Report:
    return dedup.run(source, **{"method": "exact", **options})


def refused(*arguments: str | Path, given: str = "") -> str:
    """What the command says that refuses its arguments or its input: one sentence, and perhaps a hint."""
    done = says("dedup", *arguments, given=given)
    assert (done.returncode, done.stdout) == (2, ""), done
    said = done.stderr.splitlines()
    assert len(said) == 1 or (len(said) == 2 and said[1].startswith("hint: ")), said
    return said[0]


@pytest.mark.parametrize("blank", [" \t\r", "", "\x0b\x0c"])
@pytest.mark.parametrize("odd", ["\u3000", "\u00a0", "\u0085", "\x1c", "\x1f", "\u2028"])
@pytest.mark.parametrize("unit", ["document", "line"])
def test_a_line_is_blank_for_reading_and_for_copying(tmp_path: Path, blank: str, odd: str, unit: str) -> None:
    source, out = tmp_path / "a.txt", tmp_path / "b.txt"
    lines = ["one two three four", odd, blank, "alpha beta gamma delta", "one two three four", "six"]
    source.write_text("".join(f"{line}\n" for line in lines), newline="")
    run(source, out=out, clusters=tmp_path / "c", unit=unit)
    assert out.read_bytes().decode().split("\n") == [lines[0], odd, lines[3], "six", ""]
    number = "" if unit == "document" else "#1"
    assert read_json_lines(tmp_path / "c") == [{"keep": f"1{number}", "drop": [f"5{number}"]}]


@pytest.mark.parametrize("content", [b"\x1f", b"\n", b" \n\t\n", b"\xc2\x85\n\xff\n"])
def test_a_text_of_odd_bytes_alone(tmp_path: Path, content: bytes) -> None:
    source, out = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_bytes(content)
    documents = run(source, out=out).documents
    assert out.read_bytes().strip(b" \t\n") == content.strip(b" \t\n")
    assert len(out.read_bytes().splitlines()) == documents == run(source, unit="line").documents
    run(source, out=tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes().count(b"\n") == documents


def frames(content: bytes, kind: str) -> bytes:
    """Zstandard frames of every layout: with checksums, without the size of the content, skippable, of bytes that repeat."""
    third = len(content) // 3
    parts = content[:third], content[third : 2 * third], content[2 * third :]
    match kind:
        case "one":
            return zstandard.compress(content)
        case "checksums":
            packer = zstandard.ZstdCompressor(write_checksum=True)
            return b"".join(map(packer.compress, parts))
        case "streamed":
            stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
            return b"".join([*map(stream.compress, parts), stream.flush()])
        case _:
            skipped = b"\x5a\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"other"
            return skipped.join([zstandard.compress(part) for part in parts])


@pytest.mark.parametrize("kind", ["one", "checksums", "streamed", "skippable"])
@pytest.mark.parametrize("name", ["a.jsonl.zst", "a.csv.zst", "a.txt.zst"])
def test_zstandard_that_is_cut_off_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    source, out = tmp_path / name, tmp_path / f"out-{name}"
    noise = random.Random(7)
    texts = [*(f"{noise.random()} {noise.random()}" for _ in range(6000)), "x" * 400_000]
    rows = [json.dumps({"text": text}) if ".jsonl" in name else text for text in texts]
    content = "".join(f"{row}\n" for row in (["text", *rows] if ".csv" in name else rows)).encode()
    whole = frames(content, kind)
    source.write_bytes(whole)
    assert run(source, out=out).kept == len(texts)
    for end in (len(whole) - 1, len(whole) - 5, len(whole) - len(whole) // 4, len(whole) // 2):
        source.write_bytes(whole[:end])
        with pytest.raises(
            InvalidArgument, match="is damaged or cut off: its last Zstandard frame does not end"
        ):
            run(source, out=tmp_path / "cut")
    assert not (tmp_path / "cut").exists()


@pytest.mark.parametrize("name", ["a.txt.zst", "a.csv.zst", "a.txt.gz"])
def test_what_follows_a_compressed_file_is_refused(tmp_path: Path, name: str) -> None:
    pack = gzip.compress if name.endswith(".gz") else zstandard.compress
    (tmp_path / name).write_bytes(pack(b"text\none\n" * 3) + b"and more that is no frame")
    with pytest.raises(InvalidArgument, match="is damaged or cut off"):
        run(tmp_path / name, out=tmp_path / "out")


def pages(count: int) -> list[bytes]:
    """Records of pages, two of each text."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    fields = [("WARC-Date", "2026-05-01T12:00:00Z"), ("Content-Type", "application/http")]
    return [
        _core.warc_record(
            "response",
            [("WARC-Target-URI", f"https://a.example/{number}"), *fields],
            head,
            f"<p>{number // 2} pages with the same words".encode() * 20,
        )
        for number in range(count)
    ]


@pytest.mark.parametrize(
    "content",
    [b"some\ntext\n", b'{"text": "a"}\n' * 3, gzip.compress(b"text"), b"\0" * 99],
    ids=["text", "JSON lines", "gzip", "zeros"],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    source, out = tmp_path / "a.txt", tmp_path / "out.warc"
    source.write_bytes(content)
    said = refused(source, "--format", "warc", "--out", out)
    assert f"{source} is not a WARC or ARC file that can be read: " in said and said.endswith(", at offset 0")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("flags", [["--out", "out.jsonl"], ["--method", "substring", "--ngram", "3"]])
@pytest.mark.parametrize("packing", ["gzip", "plain", "zstd"])
def test_damage_of_an_archive_is_told(tmp_path: Path, packing: str, flags: list[str]) -> None:
    members = pages(8)
    if packing != "gzip":
        members = [gzip.decompress(member) for member in members]
    if packing == "zstd":
        members = list(map(zstandard.compress, members))
    source = tmp_path / "a.warc"
    source.write_bytes(b"".join(members)[:-50])
    done = says("dedup", source, *flags, "--json", folder=tmp_path)
    offset = len(b"".join(members[:7]))
    assert done.returncode == 0 and json.loads(done.stdout)["documents"] == 7
    [warned] = done.stderr.splitlines()
    assert warned.startswith(f"warning: {source}, offset {offset:,}: "), warned


def test_damage_is_told_by_a_run_that_goes_on_after_it(tmp_path: Path) -> None:
    members = pages(600)
    source, work = tmp_path / "a.warc.gz", tmp_path / "work"
    source.write_bytes(members[0] + b"damage" + b"".join(members[1:]))

    def stop(stage: str, done: int, total: int) -> None:
        del done, total
        if stage == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(source, out=tmp_path / "b.warc.gz", work=work, progress=stop)
    assert list(work.iterdir())
    report = run(source, work=work, clusters=tmp_path / "c")
    assert [(damage.file, damage.offset) for damage in report.damage] == [(str(source), len(members[0]))]
    assert report.damage[0].reason and (report.documents, report.kept) == (600, 300)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        # As many objects as lines, but not one in each.
        (['{"text": "a"} {"text": "a"}', '{"text":', '"b"}'], "line 1 is not JSON: trailing characters"),
        (['{"text": "a"}', '{"text":', '"b"} {"text": "c"}'], "line 2 is not JSON"),
        (
            ['{"text": "a"}', '{"text": "a", "x": ' + "[" * 3000 + "]" * 3000 + "}"],
            "line 2 is nested too deeply",
        ),
        (['{"text": "a", "x": ' + '{"x":' * 100_000 + "1" + "}" * 100_001], "line 1 is nested too deeply"),
    ],
    ids=["two on a line", "one on two lines", "deep", "very deep"],
)
def test_what_is_no_object_a_line_is_named_by_its_line(tmp_path: Path, lines: list[str], said: str) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text("\n".join(lines) + "\n")
    assert f"{source}, {said}" in refused(source, "--out", tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize("names", [{"field": "id"}, {"id": "text"}, {"field": "url", "id": "url"}])
def test_a_field_may_be_the_text_and_the_id(tmp_path: Path, form: str, names: dict[str, str]) -> None:
    texts = ["a b", "c", "a b"]
    name = names.get("field", "text")
    source, out = tmp_path / f"a.{form}", tmp_path / "c"
    lines = (
        [json.dumps({name: text}) for text in texts]
        if form == "jsonl"
        else [f"{name},n", *map("{},1".format, texts)]
    )
    source.write_text("\n".join(lines) + "\n")
    run(source, clusters=out, **names)
    assert read_json_lines(out) == [{"keep": "a b", "drop": ["a b"]}]


IDS = [
    "1.10",
    "1e3",
    "-0",
    "0.1e+400",
    "123456789012345678901234567890",
    "7",
    '"x"',
    '"7"',
    '"x\\ud800"',
    '"\\u0000y"',
]


@pytest.mark.parametrize("unit", ["document", "line"])
def test_ids_are_written_as_they_are_in_the_input(tmp_path: Path, unit: str) -> None:
    source, out = tmp_path / "a.jsonl", tmp_path / "c"
    source.write_text("".join(f'{{"id": {name}, "text": "a"}}\n' for name in ["0", *IDS]))
    run(source, clusters=out, unit=unit, pairs=tmp_path / "p", report=tmp_path / "r")
    if unit == "document":
        assert out.read_text() == f'{{"keep":0,"drop":[{",".join(IDS)}]}}\n'
        assert (tmp_path / "p").read_text().startswith('{"a":0,"b":1.10,"similarity":1.0}\n{"a":0,"b":1e3,')
    else:
        shown = [json.loads(f"[{name}]", parse_float=str, parse_int=str)[0] for name in IDS]
        wanted = [f"{name}#1".replace("\ud800", "\ufffd") for name in shown]
        assert read_json_lines(out) == [{"keep": "0#1", "drop": wanted}]


@pytest.mark.parametrize(
    "texts",
    [
        [b'"\xff"', b'"\xfe"', b'"\xff"'],
        [b'"\\ud800"', b'"\\ud801"', b'"\\uD800"'],
        [b'"\\udc00\\ud800"', b'"\\ud800\\udc00"', b'"\\udc00\\ud800"'],
        [b'"\\\\ud800 \xff"', b'"\\\\ud801 \xff"', b'"\\\\ud800 \xff"'],
    ],
)
def test_json_that_is_not_utf8_is_compared_byte_by_byte(tmp_path: Path, texts: list[bytes]) -> None:
    rest = b'"id": 1.50, "x": ["\\ud83d\\ude00 \\ud83d", "\xff", 2.50]'
    lines = [b'{"text": %s, %s}' % (text, rest) for text in texts]
    source, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    source.write_bytes(b"\n".join(lines) + b"\n")
    report = run(source, out=out, clusters=tmp_path / "c")
    assert out.read_bytes().splitlines() == lines[:2] and report.dropped == 1
    assert (tmp_path / "c").read_text() == '{"keep":1.50,"drop":[1.50]}\n'


def test_a_line_that_is_not_utf8_loses_a_paragraph(tmp_path: Path) -> None:
    source, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    odd = b'{"text": "one\\n\\ntwo", "n": 1.50, "x": "\\ud83d\\ude00 \\ud83d \\\\ud83d"}\n'
    source.write_bytes(b'{"text": "one"}\n' + odd)
    run(source, out=out, unit="paragraph")
    assert (
        out.read_bytes().splitlines()[1] == b'{"text":"two","n":1.50,"x":"\\ud83d\\ude00 \\ufffd \\\\ud83d"}'
    )


@pytest.mark.parametrize("name", ["true", "[7]", '{"a": 1}'])
def test_an_id_is_a_text_or_a_number(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{"text": "a"}}\n{{"text": "a", "id": {name}}}\n')
    assert "line 2: the id is neither a text nor a number" in refused(tmp_path / "a.jsonl")


def test_the_name_of_a_file_need_not_be_utf8(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    text, archive = (
        Path(os.fsdecode(os.fsencode(folder) + name)) for name in (b"/a\xff.txt", b"/b\xff.warc.gz")
    )
    text.write_text("a\n")
    archive.write_bytes(b"".join(pages(2))[:-9])
    run(folder, out=tmp_path / "out.jsonl")
    assert read_json_lines(tmp_path / "out.jsonl")[0] == {"id": "a\ufffd.txt", "text": "a\n"}
    report = run([text, archive], out=tmp_path / "out.jsonl")
    assert [row["id"] for row in read_json_lines(tmp_path / "out.jsonl")] == [
        f"{folder}/a\ufffd.txt:1",
        "https://a.example/0",
    ]
    assert [damage.file for damage in report.damage] == [f"{folder}/b\ufffd.warc.gz"]


def test_closed_standard_input_is_one_sentence(tmp_path: Path) -> None:
    command = ["bash", "-c", f"{CRIVELLO} dedup - --out out <&-"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=60, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == "crivello: standard input is closed" and "hint: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_pipes_are_copied_to_the_disk_first(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a"}\n{"text": "b"}\n{"text": "a"}\n'))
    arguments = (
        'dedup <(zcat a.jsonl.gz) <(printf \'{"text": "b"}\\n{"text": "c"}\\n\') --against <(printf \'c\\n\')'
    )
    command = ["bash", "-c", f"{CRIVELLO} {arguments} --method exact --out out.jsonl --clusters c"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=60, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.jsonl").read_text() == '{"text": "a"}\n{"text": "b"}\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl.gz", "c", "out.jsonl"]


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "a.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=["id,text\n7,a\n8,a\n"], daemon=True)
    writer.start()
    done = says(
        "dedup",
        pipe,
        "--method",
        "exact",
        "--out",
        tmp_path / "out.csv",
        "--clusters",
        tmp_path / "c",
        timeout=60,
    )
    writer.join(60)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.csv").read_text() == "id,text\n7,a\n"
    assert read_json_lines(tmp_path / "c") == [{"keep": "7", "drop": ["8"]}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"threshold": "0.8"}, "threshold must be a number, and not '0.8'"),
        ({"threshold": 1.5}, "threshold must be from 0 to 1, and not 1.5"),
        ({"threshold": True}, "threshold must be a number, and not True"),
        ({"ngram": "3"}, "ngram must be a whole number, and not '3'"),
        ({"ngram": 2.5}, "ngram must be a whole number, and not 2.5"),
        ({"memory": "much"}, "memory: 'much' is not a size"),
        ({"memory": "1K"}, "memory must be from"),
        ({"distance": 0}, "distance has no meaning for the method minhash"),
        ({"method": "substring", "keep": "longest"}, "keep has no meaning for the method substring"),
        ({"method": "simhash", "distance": 17}, "distance must be from 0 to 16, and not 17"),
        ({"method": "simhash", "distance": 9, "bits": 32}, "distance must be from 0 to 8, and not 9"),
        ({"method": "simhash", "distance": 65}, "distance must be from 0 to 16, and not 65"),
        ({"method": "simhash", "bits": 0}, "a SimHash has 32, 64 or 128 bits, and not 0"),
        ({"method": "exact", "ignore": "case,digits"}, "'case,digits' is not among what can be ignored"),
    ],
    ids=str,
)
def test_options_without_a_meaning_are_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(InvalidArgument) as caught:
        dedup.run(tmp_path / "a.txt", **options)
    assert str(caught.value).startswith(said)


def test_options_may_be_one_text_a_size_and_numbers_of_numpy(tmp_path: Path) -> None:
    source, other = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_text("One\nTwo\none\n")
    other.write_text("two\n")
    report = run(str(source), against=str(other), ignore="case", memory="64M")  # type: ignore[arg-type]
    assert (report.documents, report.kept, report.against) == (3, 1, 1)
    assert run(source, against=other, memory=np.int64(64 << 20)).kept == 3
    assert dedup.run(source, threshold=np.float32(0.5), ngram=np.int64(2)).kept == 2


@pytest.mark.parametrize("text", ["\ud800", b"\xff", "x\udcff y z w"])
def test_texts_that_are_not_utf8_have_fingerprints(text: str | bytes) -> None:
    texts = [text, "other words than these", text]
    for found in (dedup.simhash(texts), dedup.digest(texts), dedup.minhash(texts), dedup.fingerprints(texts)):
        one, other, again = (np.asarray(row).tolist() for row in found)
        assert one == again and one != other
    assert dedup.similarity([(text, text), (text, "other words")], ngram=1).tolist() == [1.0, 0.0]
    assert dedup.Deduplicator(method="exact").add(texts).tolist() == [True, True, False]


def test_what_is_no_text_is_one_sentence() -> None:
    functions: tuple[Callable[[Any], object], ...] = (
        dedup.simhash,
        dedup.digest,
        dedup.minhash,
        dedup.fingerprints,
        dedup.Deduplicator().add,
    )
    for function in functions:
        with pytest.raises(InvalidArgument, match="7 is no text"):
            function(["a", 7])
        with pytest.raises(InvalidArgument, match="one text was given"):
            function("a b")
    with pytest.raises(InvalidArgument, match="7 is no text"):
        list(dedup.arrow(pyarrow.table({"n": [7]}), "n"))
    with pytest.raises(InvalidArgument, match="a pair has two texts"):
        dedup.similarity([("a", "b", "c")])  # type: ignore[list-item]
    with pytest.raises(InvalidArgument, match="read whole"):
        dedup.Deduplicator(method="exact", sampled=True)


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()], ids=str)
def test_a_table_without_rows_stays_a_table(kind: pyarrow.DataType) -> None:
    schema = pyarrow.schema(
        [
            ("text", kind),
            ("tags", pyarrow.list_(pyarrow.int32())),
            ("of", pyarrow.dictionary(pyarrow.int8(), pyarrow.string())),
        ]
    )
    table = schema.empty_table()
    for given in (table, [table], pyarrow.Table.from_batches([], schema), table.to_batches() or [table]):
        assert pyarrow.Table.from_batches(dedup.arrow(given)) == table
    frame = polars.DataFrame(schema={"text": polars.String})
    clean = polars.from_arrow(pyarrow.Table.from_batches(dedup.arrow(frame)))
    assert isinstance(clean, polars.DataFrame) and clean.equals(frame)
    with pytest.raises(InvalidArgument, match="there is no column 'body'"):
        list(dedup.arrow(table, "body"))


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ('id,"a\nb",text', ","),
        ('id,"a\r\nb;c;d;e;f",text', ","),
        ('"a;b;c;d;e",text', ","),
        ('id,"a;b;c;d;e",text', ","),
        ("text;a,b", ";"),
        ('text\t5" disk\ta,b', "\t"),
        ('\n\n"id"|"te,x;t"|"text"', "|"),
        ("text", ","),
    ],
)
def test_headers_of_csv_may_have_anything_in_quotes(tmp_path: Path, header: str, delimiter: str) -> None:
    source, out = tmp_path / "a.csv", tmp_path / "b.csv"
    columns = next(row for row in csv.reader(io.StringIO(header, newline=""), delimiter=delimiter) if row)
    rows = [columns, *([text if name == "text" else "x" for name in columns] for text in ("a", "b", "a"))]
    table = "".join(f"{delimiter.join(row)}\n" for row in rows[1:])
    source.write_text(f"{header}\n{table}", newline="")
    assert run(source, out=out).kept == 2
    with out.open(newline="") as file:
        assert list(csv.reader(file, delimiter=delimiter)) == rows[:3]


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,"a\nb",words\n1,2,3\n')
    assert refused(tmp_path / "a.csv").endswith("a.csv has no column 'text', only id, a b, words")
