"""A terminal, as far as our commands use one: a pseudo-terminal, and a screen that shows what they write to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

_TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|(.)", re.DOTALL)


class Terminal:
    """A command on a terminal of its own; the system echoes what is typed, as it does for a person."""

    def __init__(self, command: Sequence[str | Path], *, width: int = 80, height: int = 50) -> None:
        self._width = width
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self._process = subprocess.Popen(
            [*map(str, command)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**environment, "TERM": "xterm-256color"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self._written = b""

    def type(self, text: str) -> None:
        """Presses keys."""
        os.write(self._master, text.encode())

    def wait_for(self, text: str, seconds: float = 30) -> None:
        """Waits until this is on the screen. What is typed after it finds nothing unread: Ctrl-C drops that."""
        deadline = time.monotonic() + seconds
        while text not in "\n".join(self.screen()):
            assert time.monotonic() < deadline and self._read(), "\n".join(self.screen())

    def end(self) -> tuple[int, list[str]]:
        """Waits for the end of the command; gives its exit code, and what is on the screen then."""
        while self._read():
            pass
        os.close(self._master)
        return self._process.wait(10), self.screen()

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 30)
        try:
            new = os.read(self._master, 65536) if ready else b""
        except OSError:  # how Linux says that nobody has the terminal open any more
            return False
        self._written += new
        return bool(new)

    def screen(self) -> list[str]:
        """The lines on the screen, without what was taken away."""
        lines: list[list[str]] = [[]]
        row = column = 0
        for parameter, control, character in _TOKEN.findall(self._written.decode(errors="replace")):
            if control == "A":
                row = max(0, row - int(parameter or 1))
            elif control == "K":
                lines[row] = []
            elif character == "\r":
                column = 0
            elif character == "\n":
                row += 1
            elif character.isprintable() and character:
                if column == self._width:
                    row, column = row + 1, 0
                lines += [[] for _ in range(row + 1 - len(lines))]
                lines[row] += " " * (column + 1 - len(lines[row]))
                lines[row][column] = character
                column += 1
            lines += [[] for _ in range(row + 1 - len(lines))]
        return ["".join(line).rstrip() for line in lines]
