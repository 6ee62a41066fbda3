"""A Chromium for the tests of pages and for the screenshot: ``python -m tests.chromium`` sees to it.

One that is installed is used, under any of its names. On Debian, as root, it is installed when it is missing. Elsewhere
the tests that need it are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_ON_MACOS = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class MissingBrowserError(Exception):
    """There is no Chromium, and none can be installed from here."""


def chromium() -> str:
    """The path of a Chromium, installed now if need be."""
    if (found := _installed()) is not None:
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise MissingBrowserError(
            "there is no Chromium: install it, on Debian with: apt-get install chromium"
        )
    _install("chromium")
    if (found := _installed()) is None:
        raise MissingBrowserError("chromium is installed, but not in the PATH")
    return found


def _installed() -> str | None:
    paths = (*map(shutil.which, NAMES), str(_ON_MACOS) if _ON_MACOS.exists() else None)
    return next(filter(None, paths), None)


def _install(package: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", package]):
        run = subprocess.run(
            ["apt-get", "-qq", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if run.returncode != 0:
            reason = (run.stderr.strip() or run.stdout.strip() or "no reason given").splitlines()[-1]
            raise MissingBrowserError(f"could not install {package}: {reason}")


def main() -> int:
    try:
        chromium()
    except MissingBrowserError as error:
        print(f"crivello: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
