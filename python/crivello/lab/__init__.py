"""Experiments: the results of the theory, measured on data."""
