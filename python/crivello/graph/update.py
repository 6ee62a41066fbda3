"""From the links of a collection to its graph and ranks."""
