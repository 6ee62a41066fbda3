"""Private: writing plots to files, and the supported formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crivello._extras import optional
from crivello.errors import InvalidArgument, StorageError

FORMATS = (".png", ".svg")


def check_format(file: Path) -> None:
    """Raises an error if no plot can be written there: by the name's ending, or because matplotlib is missing."""
    if file.suffix.lower() not in FORMATS:
        raise InvalidArgument(
            f"{file} is no name for a plot", hint=f"let it end in {' or '.join(FORMATS)}, as in crawl.png"
        )
    with optional():
        import matplotlib  # noqa: F401


def save(figure: Any, file: Path) -> None:
    """Writes a matplotlib figure to a file, and closes the figure."""
    from matplotlib import pyplot as plt

    try:
        figure.savefig(file, dpi=100)
    except OSError as error:
        raise StorageError.of(error, file) from None
    finally:
        plt.close(figure)
