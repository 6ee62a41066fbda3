"""A folder of files, each of which is a document: HTML by its text, everything else as it is."""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, ClassVar

from crivello._core import parse_html
from crivello.archives.output import temporary_name
from crivello.archives.trees import Tree
from crivello.dedup.source import BATCH_BYTES, Batch, Id, Source, Text, Verdicts
from crivello.dedup.units import as_whole
from crivello.errors import InvalidArgument, StorageError

_FILES = 4096


class Folder(Source):
    """The files below a folder in the order of their paths, which are their ids; or one file."""

    form: ClassVar[str] = "folder"
    can_rewrite: ClassVar[bool] = False

    @property
    def size(self) -> int:
        return sum(1 for _ in self._files())

    def identity(self) -> list[Any]:
        """The paths, sizes and times of change of all files."""
        found = ((file, file.stat()) for file in self._files())
        files = [[os.fsencode(file), one.st_size, one.st_mtime_ns] for file, one in found]
        return [os.fsencode(self.path.resolve()), files]

    def batches(self, at: Any = None) -> Iterator[Batch]:
        number = int(at or 0)
        ids: list[Id] = []
        texts: list[Text] = []
        size = 0
        for place, file in enumerate(self._files(), start=1):
            if place <= number:
                continue
            ids.append(self._relative(file) if self.is_alone else self._named(file))
            texts.append(self._text(file))
            size += len(texts[-1])
            number = place
            if size >= BATCH_BYTES or len(ids) >= _FILES:
                yield Batch(ids, texts, number, number)
                ids, texts, size = [], [], 0
        if ids:
            yield Batch(ids, texts, number, number)

    def copy(self, verdicts: Verdicts, out: IO[bytes]) -> None:
        del verdicts, out
        raise InvalidArgument(
            f"the files of {self.name} are not written into one file",
            hint="let --out be a folder, as in --out clean/, or end in .jsonl",
        )

    def copy_files(self, verdicts: Verdicts, target: Path, token: str = "") -> None:
        """Copies the files that stay into another folder, under the same paths; a single file under the name ``target``."""
        from shutil import copy2

        is_folder = self.path.is_dir()
        temporary = (target if is_folder else target.parent) / temporary_name(token)
        copied = target
        try:
            if is_folder:
                target.mkdir(parents=True, exist_ok=True)
            temporary.unlink(missing_ok=True)
            try:
                for file in self._files():
                    if as_whole(verdicts).take(1)[0]:
                        copied = target / self._relative(file) if is_folder else target
                        copied.parent.mkdir(parents=True, exist_ok=True)
                        copy2(file, temporary)
                        temporary.replace(copied)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError.of(error, copied) from None

    def _files(self) -> Iterator[Path]:
        try:
            yield from Tree(self.path, "").files()
        except OSError as error:
            raise StorageError.of(error, error.filename or self.path) from None

    def _relative(self, file: Path) -> str:
        return file.name if self.path.is_file() else file.relative_to(self.path).as_posix()

    def _named(self, file: Path) -> str:
        """The path below the name of the folder, which is the same wherever the folder is opened."""
        return str(Path(self.name) if self.path.is_file() else Path(self.name, self._relative(file)))

    def _text(self, file: Path) -> Text:
        try:
            if file.stat().st_size > self.limit:
                raise InvalidArgument(
                    f"{file} is longer than {self.limit:,} bytes, which is the most for a document",
                    hint="give more memory: a document may be as large as a twelfth of --memory",
                )
            body = file.read_bytes()
        except OSError as error:
            raise StorageError.of(error, file) from None
        if mimetypes.guess_type(file.name)[0] in ("text/html", "application/xhtml+xml"):
            return parse_html(body, file.resolve().as_uri()).text
        try:
            return body.decode()
        except UnicodeDecodeError:
            return body
