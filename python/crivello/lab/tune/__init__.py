"""Parameter tuning: which search settings fit a collection, its topics and their judgments?"""

from crivello.lab.tune.ascent import Point, design, refine
from crivello.lab.tune.parameters import Parameter, parse_parameter
from crivello.lab.tune.study import DEFAULT_PARAMETERS, Fold, Study, tune

__all__ = [
    "DEFAULT_PARAMETERS",
    "Fold",
    "Parameter",
    "Point",
    "Study",
    "design",
    "parse_parameter",
    "refine",
    "tune",
]
