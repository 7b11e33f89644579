from kueuepy.platform.importer.importing import Import, import_cluster, import_manifest
from kueuepy.platform.importer.pods import by_label
from kueuepy.platform.importer.report import Imported, ImportReport

__all__ = ["Import", "ImportReport", "Imported", "by_label", "import_cluster", "import_manifest"]
