"""The style sheet, the script and the logo, which a browser loads once per version."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_FOLDER = Path(__file__).parent / "static"
_VERSIONS = {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:10] for file in _FOLDER.iterdir()}


def static_path(name: str) -> str:
    """The path of a static file, with a content hash as its version."""
    return f"/static/{name}?v={_VERSIONS[name]}"


class VersionedFiles(StaticFiles):
    """Serves the folder: as immutable under the current version, revalidated by ETag otherwise."""

    def __init__(self) -> None:
        super().__init__(directory=_FOLDER)

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        asked = QueryParams(scope["query_string"]).get("v")
        current = asked is not None and asked == _VERSIONS.get(Path(full_path).name)
        response.headers["Cache-Control"] = (
            "public, max-age=31536000, immutable" if current else "public, no-cache"
        )
        return response
