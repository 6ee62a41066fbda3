"""Private: pictures in files: which formats there are, and how a drawn figure is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crivello.errors import InvalidArgument, StorageError

FORMATS = (".png", ".svg")


def check_format(file: Path) -> None:
    """Complains where the name of a picture does not say in which known format it should be."""
    if file.suffix.lower() not in FORMATS:
        raise InvalidArgument(
            f"{file} is no name for a plot", hint=f"let it end in {' or '.join(FORMATS)}, as in crawl.png"
        )


def save(figure: Any, file: Path) -> None:
    """Writes a figure of matplotlib, and lets go of it."""
    from matplotlib import pyplot as plt

    try:
        figure.savefig(file, dpi=100)
    except OSError as error:
        raise StorageError.of(error, file) from None
    finally:
        plt.close(figure)
