"""Experiments: what the theory derives on paper, measured on data."""
