"""Classes of your own: what Crivello asks of them, how they are found, and what happens when they fail.

Each protocol below is one decision that you can take over. Write a class with its method, then name it in the
settings (``priority = "my_module:ByDate"`` under ``[crawl]``, or ``--priority my_module:ByDate``) or pass it in
(``collection.use(priority=ByDate())``). ``docs/extending.md`` has an example of each, with what it costs.

=====================  ===================  ==============================================================
protocol               setting              called
=====================  ===================  ==============================================================
``Priority``           ``crawl.priority``   once per page, with all its links that are in scope
``Follow``             ``crawl.follow``     once per page, with all its links that are in scope
``Converter``          ``crawl.converters`` once per document, in a process that may die without harm
``Sieve``              ``crawl.sieve``      twice per page, with its links, and once per checkpoint
``Extractor``          ``index.extractor``  once per batch of documents, before they are indexed
``QueryRewriter``      ``search.rewrite``   once per query
``Reranker``           ``search.rerank``    once per query, with its best ``search.rerank_depth`` hits
=====================  ===================  ==============================================================

**Loading.** ``module:name`` is imported when the command starts, from the working folder too; a module that
cannot be imported, a missing name or a missing method is an error before anything is done. The name may be a
class or a function, which is called once to make the object, or an object that is there already.

**Failing.** An exception, or a return of the wrong length, type or range, never ends a crawl, an index or a search:
the decision falls back to the default that its protocol names. The failure is one sentence with the class, the
file and the line. It is counted, and logged as a warning of the logger ``crivello.extend``, once for each line that
fails; a crawl also has it in its report, in ``crivello status``, and in the decisions of the page. Only a sieve
cannot be done without: when it fails, the crawl ends with that sentence and goes on from its last checkpoint.
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
    """The page on which links stand."""

    url: str
    depth: int
    title: str
    text: str
    language: str | None


class Priority(Protocol):
    """Which links come first.

    It is called in the thread that stores pages, which waits for it: it should take well under a millisecond. A class
    that takes an argument is made with the words of the setting ``keywords``. If it fails, the links of that page
    have the priority 4.
    """

    def rate(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[float]:
        """A priority from 0 (fetched first) to 7 for each link; a number beyond counts as the nearest of these.

        ``anchors`` has the text of each link on the page.
        """
        ...


class Follow(Protocol):
    """Which links are followed, of those that ``crawl.scope``, ``include`` and ``exclude`` let through.

    It is called as ``Priority`` is. A link that is not followed from one page may still be followed from another;
    redirects are always followed. If it fails, all links of that page are followed.
    """

    def follow(self, page: Page, links: list[str], anchors: list[str]) -> Sequence[bool]:
        """Whether to follow each link."""
        ...


class Converter(Protocol):
    """How a media type becomes text.

    It runs in a process of its own for each document, with a gigabyte of memory and ``crawl.timeout`` seconds; it
    must be in a module that this process can import. If it fails, the document is stored without a text.
    """

    def convert(self, body: bytes, media_type: str) -> tuple[str, str]:
        """The title (empty: the end of the URL is used) and the text of a document."""
        ...


class Sieve(Protocol):
    """Where it is remembered which URLs were seen: a store of keys (8 bytes, but for one) and values (16 bytes or
    fewer).

    It is made with a folder of its own in the collection, in the thread that starts the crawl, and then called in the
    thread that stores pages. Crivello keeps the URLs themselves and their order. After a crash the store may
    know more than at its last ``sync``, but never less. If it fails, the crawl ends.
    """

    def get(self, keys: list[bytes]) -> Sequence[bytes | None]:
        """The value of each key; None if it has none."""
        ...

    def put(self, entries: list[tuple[bytes, bytes]]) -> None:
        """Remembers the values of keys, in place of those that they had."""
        ...

    def sync(self) -> None:
        """Makes durable what was put so far."""
        ...


class Extractor(Protocol):
    """What is kept of a page in the index.

    It is called in the thread that builds the index, with a few hundred documents at a time. If it fails, the
    documents of that batch stay as they are.
    """

    def extract(self, documents: list[Document]) -> Sequence[Document]:
        """The documents to index in place of these, one for one and with the same URLs.

        A ``Document`` is a named tuple: ``document._replace(title=…)`` changes a field of it.
        """
        ...


class QueryRewriter(Protocol):
    """What a query means, before it is parsed.

    Several threads may call it at once. If it fails, or makes a query that does not parse, the query stays as
    it was given.
    """

    def rewrite(self, query: Query) -> Query:
        """The query to search for: a text in the query language, or operators, as the one that is given."""
        ...


class Reranker(Protocol):
    """In which order the best hits come.

    Several threads may call it at once. It is called once for all pages of the results. If it fails, the
    ranking stays as it was.
    """

    def rerank(self, query: str, hits: Sequence[Hit]) -> Sequence[float] | Sequence[Hit]:
        """A new score for each hit, the higher the better; or the hits themselves in their new order.

        A hit has its score, title, URL, date, language and a passage of its text.
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
"""The method that each setting's class must have."""


class Extension:
    """An object from outside in the place of a setting, and how often it failed."""

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
        """What its method returns, as ``check`` takes it, which raises where that is not allowed.

        A failure raises ``ExtensionError``, after it was counted; ``about`` says what it failed on.
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
        """The innermost line of the class's own file on the way to an error; else the innermost of all."""
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
    """The extension for a setting: ``named`` is ``module:name``, a class or function that makes one, or an object.

    A class or function is called with ``arguments`` if it takes them, and else without.
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
    """What ``module:name`` stands for."""
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
    """The name of what was passed in, or is named already."""
    if isinstance(own, str):
        return own
    made = own if inspect.isclass(own) or inspect.isfunction(own) else type(own)
    return f"{made.__module__}:{made.__qualname__}"


def _taken(make: Callable[..., Any], arguments: Sequence[object]) -> Sequence[object]:
    """The arguments, or none where the function names no parameter for them."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except ValueError:
        return arguments
    named = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return arguments if any(parameter.kind in named for parameter in parameters) else ()


class Extensions:
    """The extensions of a collection: those that were passed in, and those that its settings name."""

    def __init__(self) -> None:
        self._given: dict[str, object] = {}
        self._loaded: dict[tuple[object, ...], tuple[object, Extension]] = {}

    def use(self, given: Mapping[str, object]) -> None:
        """Takes objects in place of what the settings name; None goes back to the settings."""
        self._given |= given

    def named(self, setting: str, name: str) -> object:
        """What was passed in for a setting, or else the name that the settings have for it."""
        given = self._given.get(setting)
        return name if given is None else given

    def get(self, setting: str, name: str, *arguments: object) -> Extension | None:
        """The extension for a setting; None if there is none. One that cannot be loaded is an error."""
        named = self.named(setting, name)
        if isinstance(named, str) and not named:
            return None
        key = (setting, named if isinstance(named, str) else id(named), repr(arguments))
        if key not in self._loaded:
            # Keeping what was passed in keeps its id from becoming another's.
            self._loaded[key] = named, load(setting, named, *arguments)
        return self._loaded[key][1]

    def failures(self) -> dict[str, dict[str, Any]]:
        """How often each extension failed so far, and what it said last."""
        return {
            extension.name: {"count": extension.failures, "last": extension.last}
            for _, extension in self._loaded.values()
            if extension.failures
        }
