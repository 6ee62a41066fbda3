"""The definition of an operation of the API: it validates what a program sends and describes it in OpenAPI.

Both come from the same fields, so that the description cannot say anything that the validation does not do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from starlette.datastructures import QueryParams

from crivello.errors import InvalidArgument
from crivello.web.parameters import LONGEST_QUERY, refuse_unknown, whole_number, yes_or_no

if TYPE_CHECKING:
    from crivello.collection import Collection

LONGEST_URL = 2_048
Kind = Literal["text", "url", "number", "switch", "choice", "moment"]
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query: its limits, its default, and an example of its value."""

    name: str
    description: str
    example: str
    kind: Kind = "text"
    required: bool = False
    default: str | int | bool = ""
    least: int = 0
    most: int = LONGEST_QUERY
    choices: tuple[str, ...] = ()

    def read(self, given: QueryParams, path: str) -> str | int | bool:
        """Its value in a request."""
        if self.kind == "number":
            return whole_number(given, self.name, default=int(self.default), least=self.least, most=self.most)
        if self.kind == "switch":
            return yes_or_no(given, self.name, default=bool(self.default))
        text = given.get(self.name, str(self.default)).strip()
        if self.required and not text:
            raise InvalidArgument(
                f"there is no {self.name}", hint=f"put it in {self.name}: {path}?{self.name}={self.example}"
            )
        if len(text) > self.most:
            raise InvalidArgument(
                f"{self.name} has {len(text):,} characters, and {self.most:,} is the most it can have"
            )
        if self.kind == "choice" and text not in self.choices:
            raise InvalidArgument(
                f"{self.name} is {text[:40]!r}", hint=f"it is one of {', '.join(self.choices)}"
            )
        return text

    def schema(self) -> Schema:
        """The JSON Schema of its value, as it is written in a URL."""
        match self.kind:
            case "number":
                limits: Schema = {"type": "integer", "minimum": self.least, "maximum": self.most}
            case "switch":
                limits = {"type": "integer", "enum": [0, 1]}
            case "choice":
                limits = {"type": "string", "enum": list(self.choices)}
            case "text" | "url" | "moment":
                limits = {"type": "string", "maxLength": self.most}
                if self.required:
                    limits["minLength"] = 1
        if not self.required and self.default != "":
            limits["default"] = int(self.default) if self.kind == "switch" else self.default
        return limits


@dataclass(frozen=True, slots=True)
class Operation:
    """A path of the API: what it takes, what it gives, and the function that answers it.

    ``cached`` says whether the answer is a function of the last commit, and so has an ETag. The answer of a
    ``streamed`` operation is an iterable of objects, sent as JSON lines, and ``schema`` is that of a line.
    """

    path: str
    name: str
    summary: str
    description: str
    schema: str
    answer: Callable[[Collection, Mapping[str, Any]], Any]
    parameters: tuple[Parameter, ...] = ()
    cached: bool = True
    streamed: bool = False
    may_be_missing: bool = field(default=False)

    def read(self, given: QueryParams) -> dict[str, Any]:
        """The values of all parameters of a request, and nothing else."""
        refuse_unknown(given, [parameter.name for parameter in self.parameters])
        return {parameter.name: parameter.read(given, self.path) for parameter in self.parameters}

    @property
    def media_type(self) -> str:
        return "application/jsonl" if self.streamed else "application/json"

    @property
    def example(self) -> str:
        """An example of its URL, without the server."""
        required = [f"{one.name}={one.example}" for one in self.parameters if one.required]
        return self.path + ("?" + "&".join(required) if required else "")
