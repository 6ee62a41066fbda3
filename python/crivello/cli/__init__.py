"""Private: the command line, ``crivello VERB``. Each verb is a thin module here: parse, call the library,
print."""

from __future__ import annotations

import os
import sys
from typing import Any, cast

DONE, NOTHING, MISUSE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    code = run()
    engine = sys.modules.get("crivello.cluster.engine")
    if engine is not None and engine.is_leaving():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run() -> int:
    """Runs the command line; the only place that maps errors to messages and exit codes."""
    from crivello.cli.output import OutputClosed
    from crivello.errors import CrivelloError, InternalError, InvalidArgument

    try:
        from typer import BadParameter

        from crivello.cli import app

        # Typer does not export the base class of its usage errors.
        misuse = cast(type[Exception], BadParameter.__mro__[2])
        try:
            code = app.run(sys.argv[1:])
            sys.stdout.flush()
            return code if isinstance(code, int) else DONE
        except misuse as error:
            return _explain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OutputClosed, BrokenPipeError):
        # Discard the rest of the output, including what is written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except CrivelloError as error:
        complain(error)
        return MISUSE if isinstance(error, InvalidArgument) else FAILED
    except Exception as error:
        if os.environ.get("CRIVELLO_DEBUG"):
            raise
        complain(InternalError(f"{type(error).__name__}: {error}"))
        return FAILED


def _explain(error: Any) -> int:
    """Prints what is wrong with the arguments of a command, and how to get its help."""
    message = _about_number(error) or error.format_message()
    if message.startswith("Usage:"):  # a group without a verb: the message is its help
        print(message)
        return MISUSE
    command = error.ctx.command_path
    hint = f"`{command} --help` shows what there is"
    if command == "crivello search" and "option" in message:
        hint = "quote a query that has a minus sign: crivello search DIR 'lens -keeper'"
    if not message.partition(":")[0].isupper():  # the name of an argument
        message = message[0].lower() + message[1:]
    print(f"crivello: {message.rstrip('.')}", file=sys.stderr)
    print(f"hint: {hint}", file=sys.stderr)
    return MISUSE


def _about_number(error: Any) -> str | None:
    """The message for an invalid number in an argument or a flag, as for settings; ``None`` if the error is another one."""
    described: Any = getattr(getattr(error, "param", None), "type_descriptor", None)
    kinds: dict[Any, str] = {int: "a whole number", float: "a number"}
    kind = kinds.get(getattr(described, "annotation", None))
    said: list[Any] = getattr(error.__cause__, "errors", list)()
    if kind is None or not said:
        return None
    low, high = described.parameter_info.min, described.parameter_info.max
    least = f" from {low:,}" if low is not None else ""
    most = f" to {high:,}" if high is not None else ""
    is_argument = error.param.param_type_name == "argument"
    name = (is_argument and error.param.metavar) or error.param.opts[0]  # as `--help` shows it
    return f"{name}: {said[0]['input']!r} is not allowed: it must be {kind}{least}{most}"


def complain(error: Exception) -> None:
    """Prints an error to standard error: one sentence, its notes, and a hint."""
    print(f"crivello: {error}", file=sys.stderr)
    for note in sorted(getattr(error, "__notes__", ()), key=lambda note: note.startswith("hint: ")):
        print(note, file=sys.stderr)
