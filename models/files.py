"""Files that a user names: read within limits, and replaced in one step or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from dlsched.errors import InputError

MAX_BYTES = 64 * 2**20
"""Larger files are refused: parsed JSON takes up to 25 times its size in memory."""

WRITER_SECONDS = 10
"""How long a named pipe is waited for that nobody has opened for writing. Arbitrary: a command that writes to it may
still be starting."""

_CHUNK = 2**20
"""Bytes that are read at a time. Arbitrary: far more than a call costs, far less than `MAX_BYTES`."""

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
"""Opens a pipe that nobody writes to; 0 where the system has no such flag, nor such pipes."""

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)
_OTHER: tuple[tuple[bytes | tuple[bytes, ...], str], ...] = (
    (b"\x1f\x8b", "is compressed by gzip; unpack it first"),
    (b"PK\x03\x04", "is a zip archive, as .xlsx files are; unpack it, or save it as text, first"),
    ((b"\xff\xfe", b"\xfe\xff"), "is not UTF-8 but begins as UTF-16 text; save it as UTF-8 first"),
)
"""What files that are no UTF-8 text may be instead, by the bytes that they begin with."""

_unfinished: set[str] = set()

PathLike = str | os.PathLike[str]


def read_bytes(path: PathLike, most: int = MAX_BYTES) -> bytes:
    """Read a regular file or a pipe (``/dev/stdin``, ``<(command)``) that a user named.

    A pipe is read until whoever writes closes it; a named pipe that nobody opens for `WRITER_SECONDS` is refused.

    Raises
    ------
    InputError
        If it is neither, cannot be read, or has more bytes than `most`.
    """
    file = Path(path)
    try:
        found = _status(file)
        if found is None:
            instead = "; /dev/stdin is standard input" if os.fspath(file) == "-" else ""
            raise InputError(f"{file}: no such file{instead}")
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
            raise InputError(f"{file}: is not a file but {_kind(found.st_mode)}")
        if found.st_size > most:
            raise InputError(f"{file}: {found.st_size} bytes; files of at most {most} bytes are read")
        handle = os.open(file, os.O_RDONLY | _NONBLOCK)
        try:
            content = b"".join(_chunks(file, handle, most))
        finally:
            os.close(handle)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    return content


def read_text(path: PathLike) -> str:
    """Read a UTF-8 file that a user named.

    Raises
    ------
    InputError
        As `read_bytes`, and if it is not text.
    """
    return decode(path, read_bytes(path))


def decode(path: PathLike, content: bytes) -> str:
    """Return the text of a file's content.

    Raises
    ------
    InputError
        If it is not UTF-8.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        for begin, what in _OTHER:
            if content.startswith(begin):
                raise InputError(f"{path}: {what}") from None
        raise InputError(f"{path}: byte {error.start} is not UTF-8 text") from None


def _chunks(file: Path, handle: int, most: int) -> Iterator[bytes]:
    left = most
    chunk = _first(file, handle)
    while chunk:
        left -= len(chunk)
        if left < 0:
            raise InputError(f"{file}: more than {most} bytes; files of at most {most} bytes are read")
        yield chunk
        chunk = os.read(handle, _CHUNK)


def _first(file: Path, handle: int) -> bytes:
    """Return what is read first.

    A pipe that was opened without blocking reads as empty while nobody writes, and would block once somebody does.
    """
    if not stat.S_ISFIFO(os.fstat(handle).st_mode):
        return os.read(handle, _CHUNK)
    poll, chunk = select.poll(), None
    poll.register(handle, select.POLLIN)
    for _ in range(WRITER_SECONDS * 10):
        came = bool(poll.poll(100))
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(handle, _CHUNK)
            if not (came or chunk):
                continue
        os.set_blocking(handle, True)
        return os.read(handle, _CHUNK) if chunk is None else chunk
    raise InputError(f"{file}: is a pipe that nobody has opened for writing for {WRITER_SECONDS} seconds")


def status(path: PathLike) -> os.stat_result | None:
    """Return the status of the regular file that is to be written, None where there is none yet.

    Raises
    ------
    InputError
        If the path leads to a folder, a device, a pipe, a socket or the file that standard output or error goes to.
    """
    file = Path(path)
    try:
        found = _status(file)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    if found is None:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{file}: is not a file but {_kind(found.st_mode)}; only files are written")
    for number, name in ((1, "output"), (2, "error")):
        with contextlib.suppress(OSError):
            if os.path.samestat(found, os.fstat(number)):
                raise InputError(f"{file}: is where standard {name} goes; name another file")
    return found


def target(path: PathLike) -> Path:
    """Return the regular file, there or not yet, that writing to a path replaces: symbolic links are followed.

    Raises
    ------
    InputError
        As `status`, and if it may not be written.
    """
    file = Path(path)
    before = status(file)
    try:
        real = Path(os.path.realpath(file))
        if before is None:
            if not real.parent.is_dir():
                raise InputError(f"{file}: there is no folder {real.parent}")
        else:
            _check_replaceable(file, before, real)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    if not os.access(real.parent, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise InputError(f"{file}: the folder {real.parent} cannot be written to")
    return real


def _check_replaceable(file: Path, before: os.stat_result, real: Path) -> None:
    if not os.path.samestat(before, os.stat(real)):
        raise InputError(f"{file}: leads to an open file, which has no name to be replaced by")
    os.close(os.open(real, os.O_WRONLY))


def write_bytes(path: PathLike, content: bytes) -> None:
    """Write a file in one step: either the whole content is there afterwards, or what was there before.

    A file that is there keeps its mode, and its owner and group where this process may set them; symbolic links stay
    and what they lead to is replaced. Other hard links to the file keep the old content.

    Raises
    ------
    InputError
        If the path leads to anything but a regular file (see `target`), or it cannot be written.
    """
    real = target(path)
    try:
        _replace(real, content)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _replace(real: Path, content: bytes) -> None:
    before = _status(real)
    name = os.fspath(real.with_name(f".dlsched-{secrets.token_hex(8)}.tmp"))
    _unfinished.add(name)
    try:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if before is None else 0o600)
        with os.fdopen(handle, "wb") as stream:
            if before is not None:
                _resemble(handle, before)
            stream.write(content)
            stream.flush()
            os.fsync(handle)
        os.replace(name, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    finally:
        _unfinished.discard(name)


def _resemble(handle: int, before: os.stat_result) -> None:
    """Give a new file the owner, group and mode of the one that it will replace; never open it to another group."""
    mode = stat.S_IMODE(before.st_mode) & 0o777
    try:
        os.fchown(handle, -1, before.st_gid)
    except PermissionError:
        mode &= ~stat.S_IRWXG
    with contextlib.suppress(PermissionError):
        os.fchown(handle, before.st_uid, -1)
    os.fchmod(handle, mode)


def write_text(path: PathLike, text: str) -> None:
    """Write a text file in UTF-8, in one step.

    Raises
    ------
    InputError
        As `write_bytes`.
    """
    write_bytes(path, text.encode())


def remove_unfinished() -> None:
    """Remove what `write_bytes` has begun in any thread: for a process that ends without leaving it properly."""
    for name in list(_unfinished):
        with contextlib.suppress(OSError):
            os.unlink(name)


def _status(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except FileNotFoundError:
        return None


def _kind(mode: int) -> str:
    return next((name for test, name in _KINDS if test(mode)), "of no known kind")
