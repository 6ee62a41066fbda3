"""The module graph of the core: which folder uses which, and inside ``index/`` and ``search/`` which room uses which.

    python -m docs.modules            prints the edges; exits 1 on a cycle, or where crates/core/README.md differs
    python -m docs.modules FOLDER     the same of another crate, by the folder with its README.md and src/

Product code only: modules under ``#[cfg(test)]`` and files of ``tests`` do not count. A name that a ``mod.rs`` or ``lib.rs``
re-exports counts as an edge to where it is defined.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Container, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

CORE = Path(__file__).parent.parent / "crates" / "core"
ROOMS = ("index", "search")
"""The folders whose rooms are looked at one by one."""

Edges = set[tuple[str, str]]
_Path = tuple[str, ...]

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|b?"(?:\\.|[^"\\])*"|r#".*?"#', re.DOTALL)
_TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(?:mod|use|fn|impl)\b")
_PATH = re.compile(r"\b(crate|self|super)::")
_REEXPORT = re.compile(r"\bpub use\s+([^;]+);")
_TOKEN = re.compile(r"\w+|::|[{},*]|\s+")
_LISTED = re.compile(r"^- ((?:`[\w/]+`(?:, )?)+) → ((?:`[\w/]+`(?:, )?)+): ")


def edges(crate: Path) -> Edges:
    """Who uses whom: folders by their names, rooms by ``folder/room``."""
    source = crate / "src"
    files = {_module(path, source): _product_code(path) for path in _product_files(source)}
    faces = {module: dict(_reexports(code)) for module, code in files.items() if len(module) < 2}
    found: Edges = set()
    for module, code in files.items():
        for used in _uses(module, code):
            target = _definition(used, faces)
            if not module or not target:
                continue
            if module[0] != target[0]:
                found.add((module[0], target[0]))
            elif module[0] in ROOMS and len(module) > 1 and len(target) > 1:
                found.add((_room(module, files), _room(target, files)))
    return {(user, used) for user, used in found if user != used}


def cycle(found: Edges) -> list[str]:
    """A cycle, first node last again; empty where there is none."""
    uses: defaultdict[str, set[str]] = defaultdict(set)
    for user, used in found:
        uses[user].add(used)
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def explained(crate: Path) -> Edges:
    """The edges of which the README says why they are there: ``- `a`, `b` → `c`: why``."""
    listed: Edges = set()
    for line in (crate / "README.md").read_text().splitlines():
        if match := _LISTED.match(line):
            users, used = (re.findall(r"`([\w/]+)`", side) for side in match.groups())
            listed |= {(user, target) for user in users for target in used}
    return listed


def _product_files(source: Path) -> Iterator[Path]:
    for path in sorted(source.rglob("*.rs")):
        inside = path.relative_to(source)
        if "tests" not in inside.parts and inside.name != "tests.rs":
            yield path


def _module(path: Path, source: Path) -> _Path:
    parts = path.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


def _product_code(path: Path) -> str:
    """The code of a file without comments, strings and what is for tests only."""
    code = _NOT_CODE.sub(lambda match: '""' if match[0].endswith(('"', '"#')) else "", path.read_text())
    while match := _TEST.search(code):
        code = code[: match.start()] + code[_end_of_item(code, match.end()) :]
    return code


def _end_of_item(code: str, start: int) -> int:
    depth = 0
    for place in range(start, len(code)):
        character = code[place]
        depth += (character == "{") - (character == "}")
        if depth == 0 and character in ";}":
            return place + 1
    return len(code)


def _reexports(code: str) -> Iterator[tuple[str, _Path]]:
    for match in _REEXPORT.finditer(code):
        for path in _leaves(_TOKEN.findall(match[1])):
            yield path[-1], path


def _uses(module: _Path, code: str) -> Iterator[_Path]:
    for match in _PATH.finditer(code):
        tokens = _TOKEN.findall(code[match.start() : _end_of_path(code, match.end())])
        for path in _leaves(tokens):
            at: list[str] = [] if path[0] == "crate" else list(module)
            for name in path:
                if name == "super":
                    at = at[:-1]
                elif name not in ("crate", "self"):
                    at.append(name)
            yield tuple(at)


def _end_of_path(code: str, start: int) -> int:
    place = start
    while match := re.compile(r"\w+(::)?").match(code, place):
        place = match.end()
        if not match[1]:
            return place
    return _end_of_item(code, place) if code[place : place + 1] == "{" else place


def _leaves(tokens: list[str]) -> Iterator[_Path]:
    """The paths of a tree like ``a::{b, c::{d, self}}``."""
    path: list[str] = []
    before: list[list[str]] = []
    whole = True
    for token in tokens:
        if token == "{":
            before.append(list(path))
        elif token in (",", "}"):
            if whole and path:
                yield tuple(path)
            path = list(before[-1]) if before else []
            whole = False
            if token == "}" and before:
                before.pop()
        elif token.isidentifier():
            path.append(token)
            whole = True
    if whole and path:
        yield tuple(path)


def _definition(path: _Path, faces: dict[_Path, dict[str, _Path]]) -> _Path:
    """Where a path leads, past the re-exports of the crate and of its folders."""
    for depth in (0, 1):
        face = faces.get(path[:depth], {})
        if len(path) > depth and path[depth] in face and (*path[: depth + 1],) not in faces:
            path = path[:depth] + face[path[depth]] + path[depth + 1 :]
    return path


def _room(path: _Path, files: Container[_Path]) -> str:
    """The room of a path; what is defined in the ``mod.rs`` of the folder belongs to none."""
    return "/".join(path[:2]) if path[:2] in files else f"{path[0]}/mod"


def _print(found: Edges) -> None:
    uses: defaultdict[str, list[str]] = defaultdict(list)
    for user, used in sorted(found):
        uses[user].append(used)
    for user, targets in uses.items():
        print(f"{user} -> {', '.join(targets)}")


def main() -> int:
    crate = Path(sys.argv[1]) if len(sys.argv) > 1 else CORE
    found = edges(crate)
    _print(found)
    failures = []
    if around := cycle(found):
        failures.append(f"a cycle: {' -> '.join(around)}")
    listed = explained(crate)
    failures += [f"not in README.md: {user} -> {used}" for user, used in sorted(found - listed)]
    failures += [f"only in README.md: {user} -> {used}" for user, used in sorted(listed - found)]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
