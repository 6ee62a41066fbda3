"""Extension points: the protocols of user-defined classes, how they are loaded, and what happens when they
fail.

Each protocol below is one decision that you can take over. Write a class with its method, then name it in the
settings (``priority = "my_module:ByDate"`` under ``[crawl]``, or ``--priority my_module:ByDate``) or pass it
in (``collection.use(priority=ByDate())``). ``docs/extending.md`` has an example of each, and its cost.

=====================  ===================  ==============================================================
protocol               setting              called
=====================  ===================  ==============================================================
``Priority``           ``crawl.priority``   once per page, with all its links that are in scope
``Follow``             ``crawl.follow``     once per page, with all its links that are in scope
``Converter``          ``crawl.converters`` once per document, in a process that may die without harm
``Sieve``              ``crawl.sieve``      twice per page, with its links, and once per checkpoint
``Extractor``          ``index.extractor``  once per batch of documents, before they are indexed
``QueryRewriter``      ``search.rewrite``   once per query
``Reranker``           ``search.rerank``    once per query, with its top ``search.rerank_depth`` hits
=====================  ===================  ==============================================================

**Loading.** ``module:name`` is imported when the command starts; the working directory is searched, too. A
module that cannot be imported, a missing name or a missing method is an error before any work starts. The
name may refer to a class or a factory function, which is called once, or to an existing object.

**Failing.** An exception, or a return value of the wrong length, type or range, never ends a crawl, an index
run or a search: the decision falls back to the default stated in its protocol. The failure is reported in one
sentence with the class, the file and the line. It is counted, and logged as a warning by the logger
``crivello.extend``, once per failing line; a crawl also shows it in its report, in ``crivello status``, and
in the decision log of the page. The exception is a sieve, which has no fallback: when it fails, the crawl
ends with that sentence, and can be resumed from its last checkpoint.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from crivello.errors import ExtensionError, InvalidArgument

if TYPE_CHECKING:
    from crivello.convert import Converted
    from crivello.index import Document
    from crivello.search import Hit, Query

__all__ = [
    "Converter",
    "Extension",
    "Extensions",
    "Extractor",
    "Follow",
    "Page",
    "Priority",
    "QueryRewriter",
    "Reranker",
    "Sieve",
]

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


class Page(TypedDict):
    """The page that contains the links."""

    url: str
    depth: int
    title: str
    text: str
    language: str | None


class Priority(Protocol):
    """Which links are fetched first.

    Called in the writer thread, which it blocks: it should take well under a millisecond. A class that takes
    an argument is constructed with the words of the setting ``keywords``. If it fails, the links of that page
    get priority 4.
    """

    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[float]:
        """Returns a priority from 0 (fetched first) to 7 for each link; values out of range are clamped.

        ``anchors`` has the anchor text of each link.
        """
        ...


class Follow(Protocol):
    """Which links are followed, of those that ``crawl.scope``, ``include`` and ``exclude`` let through.

    Called in the same way as ``Priority``. A link that is not followed from one page may still be followed
    from another; redirects are always followed. If it fails, all links of that page are followed.
    """

    def follow(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[bool]:
        """Returns whether to follow each link."""
        ...


class Converter(Protocol):
    """Converts documents of a media type to text.

    Runs in a worker process, limited to ``crawl.convert_memory`` bytes and ``crawl.convert_time`` seconds per
    document, without network; it must be in a module that this process can import. If it fails, the document is
    stored without text.
    """

    def convert(self, body: bytes, media_type: str) -> tuple[str, str] | Converted:
        """Returns the title (if empty, the end of the URL is used) and the text of a document, or a
        ``crivello.convert.Converted``."""
        ...


class Sieve(Protocol):
    """The store of the URL-seen set: keys of 8 bytes (except one) and values of at most 16 bytes.

    Constructed with the path of its own folder in the collection, in the thread that starts the crawl, and
    then called in the writer thread. Crivello stores the URLs themselves and their order. After a crash the
    store may contain more than at its last ``sync``, but never less. If it fails, the crawl ends.
    """

    def get(self, keys: list[bytes]) -> Sequence[bytes | None]:
        """Returns the value of each key; ``None`` if there is none."""
        ...

    def put(self, entries: list[tuple[bytes, bytes]]) -> None:
        """Stores the values of keys, replacing earlier ones."""
        ...

    def sync(self) -> None:
        """Makes all earlier ``put`` calls durable."""
        ...


class Extractor(Protocol):
    """What is indexed of a page.

    Called in the indexing thread, with a few hundred documents at a time. If it fails, the documents of that
    batch are indexed unchanged.
    """

    def extract(self, documents: list[Document]) -> Sequence[Document]:
        """Returns the documents to index instead, one for each and with the same URLs.

        A ``Document`` is a named tuple: ``document._replace(title=…)`` changes a field.
        """
        ...


class QueryRewriter(Protocol):
    """Rewrites a query before it is parsed, for example to add synonyms.

    Several threads may call it concurrently. If it fails, or returns a query that does not parse, the
    original query is used.
    """

    def rewrite(self, query: Query) -> Query:
        """Returns the query to search for: like the argument, a text in the query language, or operators."""
        ...


class Reranker(Protocol):
    """Reranks the top hits.

    Several threads may call it concurrently. It is called once for all result pages of a query. If it fails,
    the ranking is unchanged.
    """

    def rerank(self, query: str, hits: Sequence[Hit]) -> Sequence[float] | Sequence[Hit]:
        """Returns a new score for each hit, higher being better, or the hits themselves in their new order.

        A hit has its score, title, URL, date, language and a snippet of its text.
        """
        ...


METHODS = {
    "crawl.priority": "rate",
    "crawl.follow": "follow",
    "crawl.converters": "convert",
    "crawl.sieve": "put",
    "index.extractor": "extract",
    "search.rewrite": "rewrite",
    "search.rerank": "rerank",
}
"""The method that the class named in each setting must have."""


class Extension:
    """A user-defined object for a setting, and the number of its failures."""

    def __init__(self, setting: str, label: str, own: Any) -> None:
        self.name = f"{setting} {label}"
        self.label = label
        self.failures = 0
        self.last = ""
        self.own = own
        self._method: Callable[..., Any] = getattr(own, METHODS[setting])
        self._told: set[tuple[str, type]] = set()

    def call(
        self,
        *arguments: Any,
        check: Callable[[Any], Result],
        about: str,
        method: Callable[..., Any] | None = None,
    ) -> Result:
        """Calls its method, and returns the result of ``check`` on the return value; ``check`` raises if it
        is invalid.

        A failure is counted and raises ``ExtensionError``; ``about`` names what was being processed.
        """
        method = method or self._method
        try:
            returned = method(*arguments)
        except Exception as error:
            raise self._failure(error, self._line_of(error, method), about) from None
        try:
            return check(returned)
        except (InvalidArgument, TypeError, ValueError) as error:
            raise self._failure(error, self._definition(method), about) from None

    def _failure(self, error: Exception, place: str, about: str) -> ExtensionError:
        said = " ".join(str(error).splitlines()[:1])
        kind = "" if isinstance(error, InvalidArgument) else f"{type(error).__name__}: "
        self.failures += 1
        self.last = f"{self.name} failed at {place}, on {about}: {kind}{said}".rstrip(": ")
        if (place, type(error)) not in self._told:
            self._told.add((place, type(error)))
            _log.warning("%s", self.last)
        return ExtensionError(self.last)

    def _line_of(self, error: Exception, method: Callable[..., Any]) -> str:
        """The innermost traceback line in the file of the class; if there is none, the innermost of all."""
        inside = traceback.extract_tb(error.__traceback__)[1:]
        code = _code_of(method)
        own = [frame for frame in inside if code and frame.filename == code.co_filename]
        if not inside:
            return self._definition(method)
        last = (own or inside)[-1]
        return f"{last.filename}, line {last.lineno}"

    def _definition(self, method: Callable[..., Any]) -> str:
        code = _code_of(method)
        return f"{code.co_filename}, line {code.co_firstlineno}" if code else self.label


def _code_of(method: Callable[..., Any]) -> CodeType | None:
    return getattr(inspect.unwrap(method), "__code__", None)


def load(setting: str, named: object, *arguments: object) -> Extension:
    """Loads the extension for a setting: ``named`` is ``module:name``, a class or factory function, or an
    object.

    A class or function is called with ``arguments`` if it takes any, else without arguments.
    """
    found, label = imported(setting, named) if isinstance(named, str) else named, label_of(named)
    method = METHODS[setting]
    if inspect.isclass(found) or (callable(found) and not hasattr(found, method)):
        try:
            found = found(*_taken(found, arguments))
        except InvalidArgument:
            raise
        except Exception as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InvalidArgument(f"{setting}: {label} cannot be made: {said}") from None
    if not callable(getattr(found, method, None)):
        raise InvalidArgument(f"{setting}: {label} has no method {method}", hint="see docs/extending.md")
    return Extension(setting, label, found)


def imported(setting: str, name: str) -> Any:
    """Imports ``module:name``."""
    module, separator, attribute = name.partition(":")
    if not (module and separator and attribute):
        raise InvalidArgument(f"{setting}: {name} is not a class", hint="name it as module:Class")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` would
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidArgument(f"{setting}: {name} cannot be loaded: {said}") from None


def label_of(own: object) -> str:
    """The ``module:name`` of an extension, whether given as an object or by name."""
    if isinstance(own, str):
        return own
    made = own if inspect.isclass(own) or inspect.isfunction(own) else type(own)
    return f"{made.__module__}:{made.__qualname__}"


def _taken(make: Callable[..., Any], arguments: Sequence[object]) -> Sequence[object]:
    """The arguments, or none if the function takes no positional parameter."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except ValueError:
        return arguments
    named = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return arguments if any(parameter.kind in named for parameter in parameters) else ()


class Extensions:
    """The extensions of a collection: those passed in, and those named in its settings."""

    def __init__(self) -> None:
        self._given: dict[str, object] = {}
        self._loaded: dict[tuple[object, ...], tuple[object, Extension]] = {}

    def use(self, given: Mapping[str, object]) -> None:
        """Uses objects in place of those named in the settings; ``None`` reverts to the settings."""
        self._given |= given

    def named(self, setting: str, name: str) -> object:
        """The object passed in for a setting, or else ``name``, its value in the settings."""
        given = self._given.get(setting)
        return name if given is None else given

    def get(self, setting: str, name: str, *arguments: object) -> Extension | None:
        """The extension for a setting; ``None`` if there is none. Failure to load it is an error."""
        named = self.named(setting, name)
        if isinstance(named, str) and not named:
            return None
        key = (setting, named if isinstance(named, str) else id(named), repr(arguments))
        if key not in self._loaded:
            # Keeping a reference to the object prevents its id from being reused.
            self._loaded[key] = named, load(setting, named, *arguments)
        return self._loaded[key][1]

    def failures(self) -> dict[str, dict[str, Any]]:
        """The number of failures of each extension so far, and the last message."""
        return {
            extension.name: {"count": extension.failures, "last": extension.last}
            for _, extension in self._loaded.values()
            if extension.failures
        }
