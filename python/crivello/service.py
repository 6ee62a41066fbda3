"""Private: the server as a service of systemd."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from crivello.errors import CrivelloError, InvalidArgument, StorageError

_UNIT = """\
[Unit]
Description=Crivello: search of {folder}
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
ExecStart={program} serve {argument} --workers {workers} --log json
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
TimeoutStopSec=20
LimitNOFILE=65536
{account}NoNewPrivileges=true
PrivateTmp={private}
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths={path}
ProtectKernelTunables=true
ProtectKernelModules=true
ProtectControlGroups=true
RestrictSUIDSGID=true
RestrictRealtime=true
LockPersonality=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX

[Install]
WantedBy={target}
"""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}")


@dataclass(frozen=True, slots=True)
class Service:
    """A unit that serves a collection."""

    name: str
    file: Path
    unit: str
    is_own: bool

    @classmethod
    def of(cls, folder: Path, *, name: str = "", is_own: bool = False, workers: int = 2) -> Service:
        """The service of a collection; raises an error if there is none in the folder."""
        from crivello.collection import Collection

        path = Collection(folder).folder.resolve()
        name = _checked(name or "crivello-" + (re.sub(r"[^A-Za-z0-9_.-]+", "-", path.name) or "collection"))
        owner = path.stat().st_uid
        unit = _UNIT.format(
            folder=_escaped(str(path)),
            program=_quoted(_program()),
            argument=_quoted(str(path)),
            path=_quoted(str(path)),
            workers=workers,
            account="" if is_own else f"User={owner}\nUMask=0027\n",
            private=str(not any(path.is_relative_to(shared) for shared in ("/tmp", "/var/tmp"))).lower(),
            target="default.target" if is_own else "multi-user.target",
        )
        return cls(name, _folder(is_own) / f"{name}.service", unit, is_own)

    @property
    def journal(self) -> str:
        """The command that shows its log."""
        return f"journalctl {'--user ' if self.is_own else ''}-u {self.name}"

    def install(self) -> None:
        """Writes the unit and starts it."""
        _systemctl(self.is_own, "--version")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text(self.unit)
        except PermissionError as error:
            raise StorageError(
                f"{self.file}: {error.strerror}",
                self.file,
                error.errno,
                hint="run it as root, or with --user for a service of yours",
            ) from None
        except OSError as error:
            raise StorageError.of(error, self.file) from None
        try:
            _systemctl(self.is_own, "daemon-reload")
            _systemctl(self.is_own, "enable", "--now", f"{self.name}.service")
        except CrivelloError:
            self.file.unlink(missing_ok=True)
            raise


def remove(name: str, *, is_own: bool) -> str:
    """Stops a service and removes its unit; returns its name."""
    name = _checked(name.removesuffix(".service"))
    file = _folder(is_own) / f"{name}.service"
    if not file.exists():
        raise InvalidArgument(f"there is no service {name}: {file} does not exist")
    _systemctl(is_own, "disable", "--now", f"{name}.service")
    try:
        file.unlink()
    except OSError as error:
        raise StorageError.of(error, file) from None
    _systemctl(is_own, "daemon-reload")
    return name


def _systemctl(is_own: bool, *arguments: str) -> None:
    command = ["systemctl", *(["--user"] if is_own else []), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        raise CrivelloError(
            "there is no systemd on this machine",
            hint="--dry-run prints the unit; without systemd run `crivello serve DIR --workers 2`",
        ) from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CrivelloError(f"`{' '.join(command)}` failed: {said[0] if said else done.returncode}")


def _folder(is_own: bool) -> Path:
    if not is_own:
        return Path("/etc/systemd/system")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"


def _program() -> str:
    beside = Path(sys.executable).with_name("crivello")
    return str(beside) if beside.exists() else shutil.which("crivello") or "crivello"


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidArgument(
            f"{name!r} is not a service's name", hint="use letters, digits, dashes and dots"
        )
    return name


def _escaped(text: str) -> str:
    """A text as systemd reads it literally: % and line breaks are not."""
    return text.replace("%", "%%").replace("\n", " ")


def _quoted(text: str) -> str:
    escaped = text.replace("%", "%%").replace("$", "$$").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
