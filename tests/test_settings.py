"""Settings: one definition, three ways to say them, and a clear no."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from crivello import settings
from crivello.codes import names
from crivello.errors import InvalidSetting


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
        ("crawl", "delay", "-1", "a number from 0 to 3,600"),
        ("crawl", "delay", "fast", "a number from 0 to 3,600"),
        ("crawl", "scope", "galaxy", "one of host, domain, prefix, any"),
        ("crawl", "connections", "0", "a whole number from 1 to 10,000"),
        ("crawl", "obey_robots", "perhaps", "true or false"),
        ("crawl", "user_agent", "two words", "plain ASCII"),
        ("crawl", "timeout", "0", "a number over 0 to 3,600"),
        ("search", "language", "english", "two lower-case letters"),
        ("index", "memory", "12Q", "a whole number from 1,048,576"),
        ("index", "order", "size", "one of arrival, url, bisection"),
        ("index.codes", "pointers", "morse", "auto or the name of a code"),
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


def test_bytes_may_be_said_with_a_unit() -> None:
    loaded = settings.load(flags={"index": {"memory": "512M"}, "crawl": {"max_bytes": "64k"}}, environment={})
    assert loaded.index.memory == 512 * 2**20
    assert loaded.crawl.max_bytes == 64 * 2**10


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
