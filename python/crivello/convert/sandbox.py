"""What a worker process may do: compute, and read files. Nothing else, as far as the system can forbid it.

Limits of the process (``setrlimit``): its address space, its processor time per document, the size of any file
it writes, its open files; no core dumps. On Linux, on x86-64 and ARM64, a system call filter (seccomp) also forbids
sockets, and io_uring, which could make them; and, unless user-defined converters run here, starting programs, sending
signals, and creating, writing or removing files. Elsewhere, and where the filter is not allowed, an audit hook of the
interpreter forbids sockets and programs to Python code, though not to native libraries.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from typing import Any

_OPEN_FILES = 256

# Numbers of the system calls on x86-64 and on ARM64, None where there is no such call.
_NETWORK = {"socket": (41, 198), "io_uring_setup": (425, 425)}
_EVERYTHING = {
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "ptrace": (101, 117),
    "process_vm_writev": (311, 271),
    "creat": (85, None),
    "openat2": (437, 437),
    "truncate": (76, 45),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "link": (86, None),
    "linkat": (265, 37),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "chmod": (90, None),
    "fchmodat": (268, 53),
}
# Those that open a file, and the number of their argument with the flags.
_OPENING = {"open": ((2, None), 1), "openat": ((257, 56), 2)}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

# Instructions of the classic Berkeley packet filter.
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | 13  # EACCES


def enter(memory: int, output: int, *, own: bool) -> None:
    """Applies the limits to this process; ``own``: user-defined converters run in it, and may write files."""
    os.closerange(3, 4096)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, output)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_AS, memory)
    if not _filter_calls(own=own):
        sys.addaudithook(_forbid)


def limit_processor(seconds: float) -> None:
    """Kills this process after that much more processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 2
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (until if most < 0 else min(until, most), most))


def _limit(what: int, value: int) -> None:
    _, most = resource.getrlimit(what)
    value = value if most < 0 else min(value, most)
    # An operating system may refuse a limit that it does not know.
    with suppress(OSError, ValueError):
        resource.setrlimit(what, (value, value))


def _filter_calls(*, own: bool) -> bool:
    """Installs the system call filter; False if there is none for this system."""
    if sys.platform != "linux" or os.uname().machine not in _MACHINES or sys.maxsize < 2**32:
        return False
    import ctypes
    import struct

    column, architecture = _MACHINES[os.uname().machine]
    forbidden = _NETWORK if own else _NETWORK | _EVERYTHING
    numbers = [number for numbers in forbidden.values() if (number := numbers[column]) is not None]
    program: list[tuple[int, int, int, int]] = []
    # Calls of another architecture, and those of x32, are not ours.
    program += [(_LOAD, 0, 0, 4), (_JUMP_IF_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _DENY)]
    program += [(_LOAD, 0, 0, 0), (_JUMP_IF_ANY_BIT, 0, 1, 0x40000000), (_RETURN, 0, 0, _DENY)]
    for number in numbers:
        program += [(_JUMP_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _DENY)]
    for numbers_of, argument in () if own else _OPENING.values():
        if (number := numbers_of[column]) is not None:
            flags = 16 + 8 * argument
            program += [(_JUMP_IF_EQUAL, 0, 4, number), (_LOAD, 0, 0, flags)]
            program += [(_JUMP_IF_ANY_BIT, 0, 1, _WRITING), (_RETURN, 0, 0, _DENY), (_RETURN, 0, 0, _ALLOW)]
    program.append((_RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in program))
    described = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(code)))
    system = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_filter, filtering = 38, 22, 2
    arguments = [ctypes.c_ulong(0)] * 3
    if system.prctl(no_new_privileges, ctypes.c_ulong(1), *arguments) != 0:
        return False
    pointer = ctypes.c_void_p(ctypes.addressof(described))
    return bool(system.prctl(set_filter, ctypes.c_ulong(filtering), pointer, *arguments[:2]) == 0)


def _forbid(event: str, _: tuple[Any, ...]) -> None:
    if event in ("socket.__new__", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"):
        raise PermissionError(f"a converter may not do this: {event}")
