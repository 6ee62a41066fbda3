"""The parts of ``bench.graph``, each a module with a function ``measure()``."""
