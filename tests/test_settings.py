"""Settings: one definition, three ways to say them, and a clear no."""

from __future__ import annotations

import ast
import json
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crivello
from crivello import _core, settings
from crivello.codes import names
from crivello.crawl.crawler import check
from crivello.errors import InvalidArgument, InvalidSetting
from crivello.index import options_of as index_options
from crivello.search.searcher import options_of as search_options
from crivello.settings import Setting
from crivello.settings.numbers import BYTES, SECONDS, parse_number, shown_size


def test_flag_wins_over_variable_over_file_over_default(tmp_path: Path) -> None:
    file = tmp_path / "crivello.toml"
    file.write_text("[crawl]\ndelay = 2.5\nconnections = 7\nmax_pages = 9\n")
    environment = {"CRIVELLO_CRAWL_DELAY": "3.5", "CRIVELLO_CRAWL_CONNECTIONS": "8"}
    loaded = settings.load(file, {"crawl": {"delay": "4.5"}}, environment)
    assert (loaded.crawl.delay, loaded.crawl.connections, loaded.crawl.max_pages) == (4.5, 8, 9)
    assert loaded.crawl.timeout == 30.0


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    changed = settings.load(
        flags={
            "crawl": {"delay": 0.5, "contact": 'me "quoted" \\ you', "obey_robots": False},
            "search": {"k1": 0.9},
        }
    )
    file = tmp_path / "crivello.toml"
    file.write_text(settings.to_toml(changed))
    assert settings.load(file, environment={}) == changed


def test_the_file_explains_every_setting_and_its_default() -> None:
    text = settings.to_toml(settings.Settings())
    for setting in settings.all_settings():
        assert setting.description in text
        assert f"# {setting.name} =" in text
    # Without the comment signs it is a valid file with all the defaults; what is unset has none.
    bare = "\n".join(line.removeprefix("# ") if " = " in line else line for line in text.splitlines())
    written = tomllib.loads(bare)
    written["index.codes"] = written["index"].pop("codes")
    assert {name: len(values) for name, values in written.items()} == {
        name: sum(setting.default is not None for setting in settings.settings_of(name))
        for name in settings.sections()
    }


def test_a_section_within_a_section(tmp_path: Path) -> None:
    file = tmp_path / "crivello.toml"
    file.write_text(
        '[index]\nfan_in = 4\n[index.codes]\nprefer = "fastest"\npointers = "delta"\nquantum = 64\n'
    )
    loaded = settings.load(
        file,
        {"index.codes": {"prefer": "smallest"}},
        {"CRIVELLO_INDEX_CODES_POINTERS": "golomb:9", "CRIVELLO_INDEX_CODES_PREFER": "balanced"},
    )
    assert loaded.index.fan_in == 4
    codes = loaded.index_codes
    assert (codes.prefer, codes.pointers, codes.quantum, codes.counts) == ("smallest", "golomb:9", 64, "auto")
    file.write_text(settings.to_toml(loaded))
    assert settings.load(file, environment={}) == loaded
    for code in [*names(), "auto", "unary", "zeta63", "rice:3", "minimal:300"]:
        assert (
            settings.load(flags={"index.codes": {"counts": code}}, environment={}).index_codes.counts == code
        )
    with pytest.raises(InvalidSetting):
        settings.load(flags={"index.codes": {"counts": "zeta64"}}, environment={})
    flags = {setting.name: setting.flag for setting in settings.settings_of("index.codes")}
    assert flags == {
        "prefer": "--codes",
        "pointers": "--pointers",
        "counts": "--counts",
        "positions": "--positions",
        "quantum": "--quantum",
    }


@pytest.mark.parametrize(
    ("section", "name", "value", "allowed"),
    [
        ("crawl", "delay", "-1", "a number of seconds from 0 to 3,600 (ms, s, m, h or d may follow)"),
        ("crawl", "delay", "fast", "a number of seconds from 0 to 3,600"),
        ("crawl", "delay", "1,5", "a number of seconds from 0 to 3,600"),
        ("crawl", "delay", "2h", "a number of seconds from 0 to 3,600"),
        ("crawl", "delay", "2M", "a number of seconds from 0 to 3,600"),
        ("crawl", "delay", "nan", "a number of seconds from 0 to 3,600"),
        ("crawl", "max_time", "1e999", "a number of seconds from 0"),
        ("crawl", "max_pages", "10k", "a whole number from 0"),
        ("crawl", "max_pages", "1.5", "a whole number from 0"),
        ("crawl", "max_pages", "1e20", "a whole number from 0"),
        ("crawl", "max_pages", "1,000", "a whole number from 0"),
        ("crawl", "scope", "galaxy", "one of host, domain, prefix, any"),
        ("crawl", "connections", "0", "a whole number from 1 to 10,000"),
        ("crawl", "obey_robots", "perhaps", "true or false"),
        ("crawl", "user_agent", "two words", "plain ASCII"),
        ("crawl", "timeout", "0", "a number of seconds over 0 to 3,600"),
        (
            "crawl",
            "sieve",
            "colander",
            "one of mercator, memory, offline, bloom, blocked-bloom, lsm, or a class",
        ),
        ("search", "language", "english", "two lower-case letters"),
        ("index", "memory", "12Q", "a number of bytes from 1M (K, M, G or T may follow)"),
        ("index", "memory", "64Mb/s", "a number of bytes from 1M"),
        ("index", "memory", "1", "a number of bytes from 1M"),
        ("index", "order", "size", "one of arrival, url, bisection"),
        ("index.codes", "pointers", "morse", "there are unary, unary-ordered, gamma, delta, omega"),
        ("index.codes", "pointers", "rice:64", "the parameter of rice is at most 63"),
        ("index.codes", "prefer", "best", "one of balanced, smallest, fastest"),
        ("index.codes", "quantum", "8", "a whole number from 16 to 4,096"),
    ],
)
def test_a_wrong_value_is_refused_by_name(section: str, name: str, value: str, allowed: str) -> None:
    with pytest.raises(InvalidSetting) as error:
        settings.load(flags={section: {name: value}}, environment={})
    message = str(error.value)
    [setting] = [setting for setting in settings.settings_of(section) if setting.name == name]
    assert message.startswith(f"{setting.flag}: ") and repr(value) in message and allowed in message
    with pytest.raises(InvalidSetting, match=setting.variable):
        settings.load(environment={setting.variable: value})


@pytest.mark.parametrize(
    ("section", "name", "written", "meant"),
    [
        ("search", "b", ".75", 0.75),
        ("search", "k1", "2.", 2.0),
        ("search", "k1", "+0.5", 0.5),
        ("search", "mu", "1e3", 1000.0),
        ("crawl", "max_pages", "1e6", 1_000_000),
        ("crawl", "max_pages", "1_000", 1000),
        ("crawl", "max_pages", " 7 ", 7),
        ("crawl", "max_pages", 2e3, 2000),
        ("index", "memory", "64M", 2**26),
        ("index", "memory", "64MB", 2**26),
        ("index", "memory", "64MiB", 2**26),
        ("index", "memory", "64 mib", 2**26),
        ("index", "memory", "1.5G", 3 * 2**29),
        ("index", "memory", "1T", 2**40),
        ("index", "memory", 2**26, 2**26),
        ("crawl", "max_bytes", "64k", 2**16),
        ("crawl", "max_time", "2h", 7200.0),
        ("crawl", "max_time", "1d", 86_400.0),
        ("crawl", "max_time", "90s", 90.0),
        ("crawl", "max_time", "1.5m", 90.0),
        ("crawl", "delay", "500ms", 0.5),
        ("crawl", "delay", ".25", 0.25),
        ("crawl", "cookies", "on", True),
        ("crawl", "obey_robots", "No", False),
    ],
)
def test_values_are_read_as_people_write_them(
    tmp_path: Path, section: str, name: str, written: Any, meant: Any
) -> None:
    flag = settings.load(flags={section: {name: written}}, environment={})
    file = tmp_path / "crivello.toml"
    file.write_text(f"[{section}]\n{name} = {json.dumps(written)}\n")
    [setting] = [setting for setting in settings.settings_of(section) if setting.name == name]
    for loaded in (
        flag,
        settings.load(environment={setting.variable: str(written)}),
        settings.load(file, environment={}),
    ):
        assert setting.of(loaded) == meant and type(setting.of(loaded)) is type(meant)


@given(st.decimals(-(10**12), 10**12, allow_nan=False), st.sampled_from(["", "k", "MiB", "g", "TB"]))
def test_a_number_with_a_unit_is_their_product(number: Decimal, unit: str) -> None:
    power = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}[unit[:1].lower()]
    product = number * 1024**power
    assert parse_number(f"{number:f}{unit}", BYTES) == (
        int(product) if product == product.to_integral_value() else float(product)
    )


@given(st.text(max_size=12), st.sampled_from(["", BYTES, SECONDS]))
def test_any_text_is_a_number_or_none(text: str, unit: str) -> None:
    assert isinstance(parse_number(text, unit), int | float | None)


@given(st.integers(0, 2**63 - 1))
def test_a_size_that_is_shown_reads_back(size: int) -> None:
    assert parse_number(shown_size(size).replace(",", ""), BYTES) == size


def test_the_file_shows_sizes_readably() -> None:
    text = settings.to_toml(settings.load(flags={"crawl": {"sieve_memory": "96M"}}, environment={}))
    assert '\nsieve_memory = "96M"\n' in text and '\n# queue_memory = "64M"\n' in text


@pytest.mark.parametrize(
    ("flags", "said", "hint"),
    [
        ({"crawl": {"delya": 1}}, "[crawl]: there is no setting delya", "did you mean delay?"),
        ({"crwl": {"delay": 1}}, "there is no section [crwl]", "did you mean crawl?"),
        ({"search": {"delay": 1}}, "[search]: there is no setting delay", "it is in [crawl]"),
        ({"index.codes": {"pointer": 1}}, "[index.codes]: there is no setting pointer", "pointers"),
        ({"index": {"codes": {"cuonts": 1}}}, "[index.codes]: there is no setting cuonts", "counts"),
        ({"crawl": {"zzzzzz": 1}}, "there is no setting zzzzzz", "docs/settings.md"),
        ({"crawl": 1}, "crawl is a section", None),
    ],
)
def test_a_name_that_is_none_is_refused_with_the_nearest(
    tmp_path: Path, flags: dict[str, Any], said: str, hint: str | None
) -> None:
    file = tmp_path / "crivello.toml"
    lines = [f"{section} = {values!r}" for section, values in flags.items() if not isinstance(values, dict)]
    for section, values in flags.items():
        if isinstance(values, dict):
            lines += [f"[{section}]"] + [
                f"{name} = {str(value).replace(':', ' =')}" for name, value in values.items()
            ]
    file.write_text("\n".join(lines))
    for source, given_by in (("the settings", {"flags": flags}), (str(file), {"file": file})):
        with pytest.raises(InvalidSetting) as error:
            settings.load(**given_by, environment={})
        assert said in str(error.value) and str(error.value).startswith(source)
        assert hint in error.value.hint if hint and error.value.hint else hint == error.value.hint


def test_a_variable_that_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidSetting, match="CRIVELLO_CRAWL_DELYA") as error:
        settings.load(environment={"CRIVELLO_CRAWL_DELYA": "1"})
    assert error.value.hint == "did you mean CRIVELLO_CRAWL_DELAY?"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[crawl\n", "not valid TOML"),
        ("[crawl]\nspeed = 3\n", "there is no setting speed"),
        ("[fly]\nx = 1\n", "there is no section [fly]"),
        ("[crawl]\ndelay = true\n", "must be a number"),
        ("[crawl]\ndelay = -1\n", "-1"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "crivello.toml"
    file.write_text(content)
    with pytest.raises(InvalidSetting) as error:
        settings.load(file, environment={})
    assert said in str(error.value) and str(file) in str(error.value)


def test_every_setting_is_described_and_has_a_variable_of_its_own() -> None:
    everything = list(settings.all_settings())
    assert all(setting.description and setting.allowed for setting in everything)
    assert len({setting.variable for setting in everything}) == len(everything)
    assert all(setting.group for setting in everything)


def test_choices_are_those_of_the_core() -> None:
    known = _core.choices()
    with_choices = [setting for setting in settings.all_settings() if setting.choices]
    assert {"scorer", "method", "scope", "sieve", "order", "prefer", "counts", "politeness"} <= {
        setting.name for setting in with_choices
    }
    in_python = {"lsm", "auto", "module:Class", "together", "processes", "problems", "text", "json"}
    in_python |= {"gathered", "pipelined"}
    listed = {name for names in known.values() for name, _ in names} | in_python
    for setting in with_choices:
        assert setting.default in setting.choices and set(setting.choices) <= listed
        assert all(setting.choices.values()) and all(name in setting.allowed for name in setting.choices)
        if len(setting.choices) <= 10:
            assert all(f"{name} (" in setting.help for name in setting.choices)
            for name in setting.choices:
                assert setting.checked(name, "") == name


def readings() -> set[tuple[str, str]]:
    """What the package reads of something, as the last name of the thing and the attribute: ``crawl.delay``."""
    found = set()
    for file in Path(crivello.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute):
                of_what = node.value
                name = of_what.attr if isinstance(of_what, ast.Attribute) else getattr(of_what, "id", "")
                found.add((name.lstrip("_"), node.attr))
    return found


def test_every_setting_is_read() -> None:
    # What the core reads, it cannot leave out: it refuses what it does not know, and the compiler warns of a field that is
    # never read.
    known = settings.Settings()
    check(known.crawl, ["http://a.example/"])
    index_options(known)
    search_options(known.search)
    _core.RefreshOptions(msgspec.json.encode(settings.for_core(known.refresh)))
    read = readings()
    for setting in settings.all_settings():
        things = {setting.section.replace(".", "_"), "settings"}
        assert setting.is_for_core or any((thing, setting.name) in read for thing in things), (
            f"nothing reads {setting.variable}"
        )


@pytest.mark.parametrize("section", ["index", "index.codes", "search", "refresh", "crawl"])
def test_the_core_refuses_what_it_does_not_know_and_misses_what_is_left_out(section: str) -> None:
    def tell(told: dict[str, Any]) -> None:
        known = settings.Settings()
        if section == "search":
            _core.SearchOptions(msgspec.json.encode(told))
        elif section == "refresh":
            _core.RefreshOptions(msgspec.json.encode(told))
        elif section == "crawl":
            plan: dict[str, Any] = {
                "folder": "",
                "software": "x",
                "seeds": [],
                "led_to": [],
                "counted": {},
                "converter": [],
            }
            plan |= {"converters": {}, "sieve_state": {}, "position": None, "crawl": told}
            plan |= {"store": settings.for_core(known.store), "refresh": settings.for_core(known.refresh)}
            plan |= {"revisits": 0, "reread": None}
            _core.check_crawl(msgspec.json.encode(plan))
        else:
            index, codes = settings.for_core(known.index), settings.for_core(known.index_codes)
            both = {**told, "codes": codes} if section == "index" else {**index, "codes": told}
            _core.IndexOptions(msgspec.json.encode(both))

    chosen = settings.Settings(search=settings.Search(language="en"))  # unset, it is found in the index
    usual = settings.for_core(getattr(chosen, section.replace(".", "_")))
    tell(usual)
    with pytest.raises(InvalidArgument, match="unknown field `colour`"):
        tell({**usual, "colour": 1})
    may_be_unset = {setting.name for setting in settings.settings_of(section) if setting.default is None}
    for name in usual.keys() - may_be_unset:
        with pytest.raises(InvalidArgument, match=f"missing field `{name}`"):
            tell({other: value for other, value in usual.items() if other != name})


def test_settings_that_need_a_unit_have_one() -> None:
    def counts(setting: Setting, words: tuple[str, ...]) -> bool:
        return any(word in setting.description for word in words)

    for setting in settings.all_settings():
        if setting.base in (int, float):
            assert (setting.unit == SECONDS) == counts(setting, ("seconds",)), setting.name
            assert setting.unit != BYTES or setting.base is int
