"""From the pages of a collection to its index."""
