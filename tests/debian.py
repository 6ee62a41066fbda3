"""The Debian packages that tests and documents need: ``python -m tests.debian chromium``.

Nothing happens, quickly, when they are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


class MissingPackageError(Exception):
    """A package is not installed, and cannot be installed from here."""


def need(package: str, command: str | None = None) -> None:
    """See to it that the package's command, named like the package unless said, can be run."""
    command = command or package
    if shutil.which(command):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise MissingPackageError(
            f"{command} is missing: install it, on Debian with: apt-get install {package}"
        )
    _install(package)
    if not shutil.which(command):
        raise MissingPackageError(f"{package} is installed, but there is no {command} in the PATH")


def _install(package: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", package]):
        run = subprocess.run(
            ["apt-get", "-qq", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if run.returncode != 0:
            reason = (run.stderr.strip() or run.stdout.strip() or "no reason given").splitlines()[-1]
            raise MissingPackageError(f"could not install {package}: {reason}")


def main(packages: list[str]) -> int:
    try:
        for package in packages:
            need(package)
    except MissingPackageError as error:
        print(f"crivello: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
