"""Tokens for programs, each with a name and a scope.

A file has a line for each: ``NAME SCOPE DAY sha256:DIGEST``. The token itself is shown once, when it is made, and
is not stored: it has 256 random bits, so that a plain SHA-256 of it cannot be guessed back. The file is read again
when it changed, so that a token can be added and removed while the server runs.

A scope includes those before it: ``read`` asks, ``crawl`` adds pages and documents, ``admin`` may do everything.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from crivello.errors import InvalidArgument, StorageError

SCOPES = {
    "read": "search, and read pages",
    "crawl": "the same, and add pages and documents",
    "admin": "everything",
}
FILE = "tokens.txt"
"""The name of the file in a collection's folder."""
_PREFIX = "crv_"
_NAME = re.compile(r"[\w.@-]{1,60}", re.ASCII)
_LINE = re.compile(r"(\S+) (\S+) (\d{4}-\d{2}-\d{2}) sha256:([0-9a-f]{64})")
_ORDER = list(SCOPES)


@dataclass(frozen=True, slots=True)
class Token:
    """What is stored of a token."""

    name: str
    scope: str
    made: str
    digest: str

    def allows(self, scope: str) -> bool:
        """Whether its scope includes another."""
        return _ORDER.index(self.scope) >= _ORDER.index(scope)

    def __str__(self) -> str:
        return f"{self.name} {self.scope} {self.made} sha256:{self.digest}"


class Tokens:
    """The tokens of a file, which may be missing. Thread-safe."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._tokens: dict[str, Token] = {}

    def list(self) -> list[Token]:
        """All tokens, in the order of the file."""
        return [*self._read().values()]

    def add(self, name: str, scope: str) -> str:
        """Makes a token, stores its digest, and returns it."""
        if not _NAME.fullmatch(name):
            raise InvalidArgument(
                f"{name!r} is not a name for a token", hint="up to 60 letters, digits, dots and dashes"
            )
        if scope not in SCOPES:
            raise InvalidArgument(f"{scope!r} is not a scope", hint=f"there are {', '.join(SCOPES)}")
        known = self.list()
        if any(token.name == name for token in known):
            raise InvalidArgument(f"there is a token {name} already", hint="remove it first, or name another")
        secret = _PREFIX + secrets.token_urlsafe(32)
        today = datetime.now(UTC).date().isoformat()
        self._write([*known, Token(name, scope, today, _digest(secret))])
        return secret

    def remove(self, name: str) -> bool:
        """Removes a token; returns whether there was one of this name."""
        known = self.list()
        kept = [token for token in known if token.name != name]
        if len(kept) < len(known):
            self._write(kept)
        return len(kept) < len(known)

    def of(self, authorization: str) -> Token | None:
        """The token that an ``Authorization`` header has: as Bearer, as ApiKey, or as the password of Basic."""
        method, _, value = authorization.strip().partition(" ")
        value = value.strip()
        match method.lower():
            case "bearer":
                candidates = [value]
            case "apikey":
                # Elasticsearch's clients send a key as it is, or as base64 of "id:key".
                candidates = [value, _password(value)]
            case "basic":
                candidates = [_password(value)]
            case _:
                return None
        tokens = self._read()
        return next((tokens[digest] for one in candidates if (digest := _digest(one)) in tokens), None)

    def _read(self) -> dict[str, Token]:
        with self._lock:
            try:
                state = self.file.stat()
                seen = (state.st_mtime_ns, state.st_size)
                if seen != self._seen:
                    self._tokens = {token.digest: token for token in _parsed(self.file)}
                    self._seen = seen
            except FileNotFoundError:
                self._tokens, self._seen = {}, None
            except OSError as error:
                raise StorageError.of(error, self.file) from None
            return self._tokens

    def _write(self, tokens: Iterable[Token]) -> None:
        lines = ["# tokens of crivello serve: NAME SCOPE DAY sha256:DIGEST", *map(str, tokens), ""]
        new = self.file.with_name(self.file.name + ".new")
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
                out.write("\n".join(lines))
                out.flush()
                os.fsync(out.fileno())
            new.replace(self.file)
        except OSError as error:
            raise StorageError.of(error, self.file) from None


def _parsed(file: Path) -> Iterable[Token]:
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None or match[2] not in SCOPES:
            raise InvalidArgument(
                f"{file}, line {number} is not a token", hint="`crivello token add` writes these lines"
            )
        yield Token(match[1], match[2], match[3], match[4])


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _password(value: str) -> str:
    """What is behind the colon in base64."""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""
