"""A live cluster's dump brought into a Scheduler, as Kueue's importer does."""

from kueuepy.importer.importing import Import, import_cluster
from kueuepy.importer.pods import by_label
from kueuepy.importer.report import Imported, ImportReport

__all__ = [
    "Import",
    "ImportReport",
    "Imported",
    "by_label",
    "import_cluster",
]
