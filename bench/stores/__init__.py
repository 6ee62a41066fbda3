"""Benchmarks of the store: single pages, the engines beside ours, archives, and growth."""
