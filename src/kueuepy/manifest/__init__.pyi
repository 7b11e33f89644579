from kueuepy.errors.problems import LimitError as LimitError
from kueuepy.errors.problems import ManifestError as ManifestError
from kueuepy.errors.problems import Problem as Problem
from kueuepy.manifest.convert import from_dict, to_dict
from kueuepy.manifest.dumping import dump
from kueuepy.profiles.gates import FEATURE_GATES as FEATURE_GATES
from kueuepy.manifest.loading import load
from kueuepy.manifest.manifest import Manifest, Note as Note
from kueuepy.manifest.text.limits import Limits
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
