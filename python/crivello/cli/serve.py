"""crivello serve: serves the search page."""

from __future__ import annotations

from typing import Any

import typer

from crivello.cli.options import Folder, InGroups, with_settings
from crivello.cli.output import say


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("serve", cls=InGroups)(with_settings("serve", "search")(serve))


def serve(folder: Folder, *, flags: dict[str, Any]) -> None:
    """Serve the search page and the HTTP API of a collection, until Ctrl-C.

    \b
    Examples:
      crivello serve example
      crivello serve example --host 0.0.0.0 --port 80
      crivello serve example --workers 4 --log json
      crivello serve example --tls-certificate chain.pem --tls-key key.pem --users users.txt
    """
    from pathlib import Path

    from crivello import settings
    from crivello.collection import SETTINGS, Collection

    file = Path(folder) / SETTINGS
    loaded = settings.load(file if file.exists() else None, flags)
    Collection(folder, settings=loaded).serve(
        on_ready=lambda url: say(f"searching {folder} at {url} (Ctrl-C ends it)")
    )
