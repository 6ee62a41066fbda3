"""The documentation: Markdown pages, and ``docs.generate``, which keeps the generated parts of them true."""
