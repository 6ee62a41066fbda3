"""The measures of a run, by their names in ir-measures: ``AP``, ``nDCG@10``, ``P(rel=2)@5``.

ir-measures delegates to trec_eval where that has the measure. It is an extra (``crivello[eval]``), because it
depends on SciPy.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crivello._extras import optional
from crivello._figures import Figures
from crivello._tables import Tabular
from crivello.errors import InvalidArgument
from crivello.evaluate.judgments import Judgments
from crivello.search.runs import Run

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@5", "P@10", "R@100", "R@1000", "RR", "Bpref", "Rprec")

_NAME = re.compile(r"(?P<name>\w+)(?:\((?P<parameters>.*)\))?(?:@(?P<cutoff>.+))?")


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Figures, Tabular):
    """The evaluation of a run; as a table, one row per query.

    ``queries`` has the value of each measure for each query of the judgments. ``missing`` are those without
    results in the run, and ``unknown`` the queries of the run without judgments, which are ignored.
    """

    queries: dict[str, dict[str, float]]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return list(next(iter(self.queries.values())))

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure over all queries of the judgments."""
        return {
            measure: sum(values[measure] for values in self.queries.values()) / len(self.queries)
            for measure in self.measures
        }

    def _headline(self) -> str:
        return f"{len(self.queries):,} queries, {', '.join(f'{name} {mean:.4f}' for name, mean in self.means.items())}"

    def _figures(self) -> Iterator[tuple[str, str]]:
        return ((name, f"{mean:.4f}") for name, mean in self.means.items())

    def _columns(self) -> Mapping[str, str]:
        return {"query": "VARCHAR", **dict.fromkeys(self.measures, "DOUBLE")}

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        return ((query, *values.values()) for query, values in self.queries.items())

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """The JSON of ``crivello evaluate --json``; ``NumQ`` is the number of queries."""
        means = {**self.means, "NumQ": len(self.queries)}
        return {"mean": means, "queries": self.queries} if per_query else means


class Evaluator:
    """Evaluates runs against the same judgments."""

    def __init__(self, judgments: Judgments, measures: Iterable[str] = DEFAULT_MEASURES) -> None:
        library = _library()
        self._judgments = judgments
        parsed = [_measure(library, name) for name in dict.fromkeys(measures)]
        self._names = [str(measure) for measure in parsed]
        try:
            self._evaluator = library.evaluator(parsed, judgments)
        except (ValueError, AssertionError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise InvalidArgument(f"this cannot be measured here: {reason}") from None

    def evaluate(self, run: Run) -> Evaluation:
        """Computes the measures of a run."""
        values: dict[str, dict[str, float]] = {
            query: dict.fromkeys(self._names, 0.0) for query in self._judgments
        }
        for metric in self._evaluator.iter_calc(run):
            values[metric.query_id][str(metric.measure)] = metric.value
        return Evaluation(
            values,
            tuple(query for query in self._judgments if query not in run),
            tuple(query for query in run if query not in self._judgments),
        )


def evaluate(judgments: Judgments, run: Run, measures: Iterable[str] = DEFAULT_MEASURES) -> Evaluation:
    """Computes the measures of a run."""
    return Evaluator(judgments, measures).evaluate(run)


def _library() -> Any:
    with optional():
        import ir_measures
    return ir_measures


def _measure(library: Any, text: str) -> Any:
    """Parses the name of a measure.

    The library's own parser uses parts of ``ast`` that were removed in Python 3.14.
    """
    match = _NAME.fullmatch(text.strip())
    known = library.measures.registry
    if match is None or match["name"] not in known:
        raise InvalidArgument(
            f"{text!r} is no measure", hint="as in AP, nDCG@20, P(rel=2)@5, R@1000, RR, Rprec, ERR@20"
        )
    measure = known[match["name"]]
    try:
        parameters = _parameters(match["parameters"])
        if match["cutoff"]:
            parameters[measure.AT_PARAM] = ast.literal_eval(match["cutoff"])
        measure = measure(**parameters)
        measure.validate_params()
    except (ValueError, SyntaxError, AssertionError):
        raise InvalidArgument(
            f"{text!r} is no measure: what is in parentheses or after @ is wrong or missing",
            hint="as in nDCG@20 or P(rel=2)@5",
        ) from None
    return measure


def _parameters(text: str | None) -> dict[str, Any]:
    call = ast.parse(f"measure({text or ''})", mode="eval").body
    if not isinstance(call, ast.Call) or call.args:
        raise ValueError("parameters have names")
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
