"""Search evaluation: runs against relevance judgments, and runs against each other.

    >>> judgments = read_judgments("qrels.txt")
    >>> evaluation = evaluate(judgments, read_run("example.run"))
    >>> evaluation.means["AP"]
    0.3123
    >>> compare(evaluation, evaluate(judgments, read_run("other.run")))

The measures are those of ir-measures, whose values equal trec_eval's. Means are over all queries of the
judgments: one for which a run has no results counts as 0.
"""

from crivello.evaluate.compare import Comparison, compare, p_of_randomisation, p_of_t_test
from crivello.evaluate.judgments import Judgments, read_judgments
from crivello.evaluate.measures import DEFAULT_MEASURES, Evaluation, Evaluator, evaluate

__all__ = [
    "DEFAULT_MEASURES",
    "Comparison",
    "Evaluation",
    "Evaluator",
    "Judgments",
    "compare",
    "evaluate",
    "p_of_randomisation",
    "p_of_t_test",
    "read_judgments",
]
