"""Kubernetes manifests into Kueue's objects and back.

`load` reads files, texts and dumps of whole clusters, of any of Kueue's API versions; `dump` writes YAML that gives
the same objects again. `from_dict` and `to_dict` do the same for one object in Kubernetes' JSON form. `validate`,
`check` and `validate_update` hold objects to the rules of an API server, wherever they come from.
"""

from kueuepy.errors.problems import LimitError, ManifestError, Problem
from kueuepy.manifest.convert import from_dict, to_dict
from kueuepy.manifest.dumping import dump
from kueuepy.manifest.gates import FEATURE_GATES
from kueuepy.manifest.loading import load
from kueuepy.manifest.manifest import Manifest, Note
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.validation import check, validate, validate_update

__all__ = [
    "FEATURE_GATES",
    "LimitError",
    "Limits",
    "Manifest",
    "ManifestError",
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
