"""The shell: ``crivello VERB``. Each verb is a thin module here: parse, call the library, print."""

from __future__ import annotations

import os
import sys

DONE, NOTHING, MISUSE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130


def main() -> None:
    """Runs the command line; the one place where errors become sentences and exit codes."""
    from crivello.errors import CrivelloError, InternalError, InvalidArgument

    try:
        from crivello.cli.app import app

        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has enough; the rest goes nowhere, also at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    except CrivelloError as error:
        complain(error)
        sys.exit(MISUSE if isinstance(error, InvalidArgument) else FAILED)
    except Exception as error:
        if os.environ.get("CRIVELLO_DEBUG"):
            raise
        complain(InternalError(f"{type(error).__name__}: {error}"))
        sys.exit(FAILED)


def complain(error: Exception) -> None:
    """One sentence on standard error, and what to try."""
    print(f"crivello: {error}", file=sys.stderr)
    if hint := getattr(error, "hint", None):
        print(f"hint: {hint}", file=sys.stderr)
