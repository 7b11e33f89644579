"""Read and write Kubernetes manifests.

`load` reads files, strings and cluster dumps in any version of Kueue's API. `dump` writes objects as YAML, from which
`load` reads back equal objects. `from_dict` and `to_dict` convert single objects between Python classes and Kubernetes'
JSON form. `validate`, `check` and `validate_update` apply the validation rules of the API server and of Kueue's
webhooks.
"""

from kueuepy.errors.problems import LimitError as LimitError
from kueuepy.errors.problems import ManifestError as ManifestError
from kueuepy.errors.problems import Problem
from kueuepy.manifest.convert import from_dict, to_dict
from kueuepy.manifest.dumping import dump
from kueuepy.manifest.gates import FEATURE_GATES
from kueuepy.manifest.loading import load
from kueuepy.manifest.manifest import Manifest, Note
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.validation import check, validate, validate_update

__all__ = [
    "FEATURE_GATES",
    "Limits",
    "Manifest",
    "Note",
    "Problem",
    "check",
    "dump",
    "from_dict",
    "load",
    "to_dict",
    "validate",
    "validate_update",
]
