"""The Python tests; the Rust tests live beside the Rust code."""
