"""Names and passwords for the whole server: HTTP basic authentication, by a file of salted hashes.

A line of the file is ``name:scrypt:SALT:HASH``, as ``crivello service password NAME`` prints it. Passwords are hashed with
scrypt (N = 2^14, r = 8, p = 1: 16 MiB and some 40 ms), so a header that was right is remembered by its SHA-256 while the
server runs. ``/health`` and ``/ready`` are open, for those who watch the server, and so are the addresses where others
call back, which have secrets of their own. Basic authentication sends the password with every request: use TLS.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from http import HTTPStatus
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from crivello.errors import InvalidSetting, StorageError
from crivello.web.api.tokens import Tokens
from crivello.web.headers import PROTECTION

_OPEN = ("/health", "/ready", "/websub/", "/indexnow")
_REMEMBERED = 1024
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="Crivello", charset="UTF-8"', **PROTECTION}


def line_of(name: str, password: str) -> str:
    """The line of a user for the file."""
    if not name or ":" in name or any(character.isspace() for character in name):
        raise InvalidSetting(f"{name!r} is not a user's name", hint="use one word without a colon")
    salt = secrets.token_bytes(16)
    return f"{name}:scrypt:{salt.hex()}:{_hash(password, salt).hex()}"


def read_users(file: Path) -> dict[str, tuple[bytes, bytes]]:
    """The salt and the hash of each user of a file; blank lines and those that begin with # are skipped."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StorageError.of(error, file) from None
    except UnicodeDecodeError:
        raise InvalidSetting(f"{file} is not a text file in UTF-8") from None
    users: dict[str, tuple[bytes, bytes]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            name, kind, salt, hashed = line.strip().split(":")
            if kind != "scrypt":
                raise ValueError
            users[name] = bytes.fromhex(salt), bytes.fromhex(hashed)
        except ValueError:
            raise InvalidSetting(
                f"{file}, line {number} is not a user",
                hint="`crivello service password NAME` prints such a line",
            ) from None
    if not users:
        raise InvalidSetting(f"{file} has no users", hint="add what `crivello service password NAME` prints")
    return users


class BasicAuth:
    """Middleware that answers only those who know a name and its password, and programs with a token."""

    def __init__(
        self, app: ASGIApp, users: dict[str, tuple[bytes, bytes]], tokens: Tokens | None = None
    ) -> None:
        self.app = app
        self._users = users
        self._tokens = tokens
        self._right: set[bytes] = set()
        # An unknown name takes as long as a known one.
        self._nobody = (secrets.token_bytes(16), secrets.token_bytes(32))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith(_OPEN):
            header = dict(scope["headers"]).get(b"authorization", b"")
            if not await self._is_right(header):
                await _refused(scope["path"])(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _is_right(self, header: bytes) -> bool:
        if self._tokens is not None:
            token = await run_in_threadpool(self._tokens.of, header.decode("latin-1"))
            if token is not None:
                return True
        kind, _, encoded = header.partition(b" ")
        if kind.lower() != b"basic":
            return False
        remembered = hashlib.sha256(header).digest()
        if remembered in self._right:
            return True
        try:
            name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return False
        salt, hashed = self._users.get(name, self._nobody)
        given = await run_in_threadpool(_hash, password, salt)
        if not hmac.compare_digest(given, hashed):
            return False
        if len(self._right) >= _REMEMBERED:
            self._right.clear()
        self._right.add(remembered)
        return True


def _refused(path: str) -> Response:
    problem = "a name and a password are needed here"
    if path.startswith("/api/"):
        return JSONResponse({"error": problem, "hint": None}, HTTPStatus.UNAUTHORIZED, headers=_CHALLENGE)
    return PlainTextResponse(f"{problem}\n", HTTPStatus.UNAUTHORIZED, headers=_CHALLENGE)


def _hash(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1, dklen=32)
