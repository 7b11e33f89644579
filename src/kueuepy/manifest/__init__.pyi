from kueuepy.errors.problems import LimitError as LimitError
from kueuepy.errors.problems import ManifestError as ManifestError
from kueuepy.errors.problems import Problem as Problem
from kueuepy.manifest.body import part as part
from kueuepy.manifest.convert import from_dict, object_name as object_name, to_dict
from kueuepy.manifest.convert import dump
from kueuepy.profiles.gates import FEATURE_GATES as FEATURE_GATES
from kueuepy.manifest.loading import load
from kueuepy.manifest.manifest import Manifest, Note as Note
from kueuepy.manifest.manifest import ReadJob as ReadJob, placed as placed
from kueuepy.manifest.text.text import Limits
from kueuepy.manifest.text.reading import Item as Item
from kueuepy.manifest.text.sources import (
    CLUSTER as CLUSTER,
    One as One,
    Source as Source,
    is_live as is_live,
    is_recording as is_recording,
    items as items,
    live_parts as live_parts,
    opened as opened,
)
from kueuepy.manifest.validation import check, validate, validate_update

__all__ = [
    "Limits",
    "Manifest",
    "check",
    "dump",
    "from_dict",
    "load",
    "to_dict",
    "validate",
    "validate_update",
]
