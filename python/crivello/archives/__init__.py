"""Private: web archives in and out: pages that others fetched become pages of a collection, and back.

``Collection.import_`` and ``Collection.export`` are the public entries; ``read`` reads the records of any archive file.
"""

from crivello.archives.exporting import FORMATS, Exported, export
from crivello.archives.importing import Imported, Importer
from crivello.archives.reading import Damage, read

__all__ = ["FORMATS", "Damage", "Exported", "Imported", "Importer", "export", "read"]
