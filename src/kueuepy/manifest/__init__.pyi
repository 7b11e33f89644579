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
from kueuepy.manifest.text.reading import (
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
from kueuepy.manifest.body import (
    changed as changed,
)
from kueuepy.manifest.convert import (
    split_api_version as split_api_version,
)
from kueuepy.manifest.findings import (
    Findings as Findings,
)
from kueuepy.manifest.formats import (
    LABEL_LENGTH as LABEL_LENGTH,
    SUBDOMAIN_LENGTH as SUBDOMAIN_LENGTH,
    is_admission_gate as is_admission_gate,
    is_label_key as is_label_key,
    is_subdomain as is_subdomain,
)
from kueuepy.manifest.jobkinds import (
    BUILT_IN as BUILT_IN,
    DEFAULT_QUEUE as DEFAULT_QUEUE,
    FRAMEWORKS as FRAMEWORKS,
    PODS_BY as PODS_BY,
    QUEUE_NAME as QUEUE_NAME,
    framework_of as framework_of,
    with_queue_label as with_queue_label,
)
from kueuepy.manifest.kinds import (
    BY_CLASS as BY_CLASS,
    KINDS as KINDS,
)
from kueuepy.manifest.schema.classes import (
    schema_of_class as schema_of_class,
)
from kueuepy.manifest.schema.structure import (
    conform as conform,
)
from kueuepy.manifest.schema.table import (
    METADATA as METADATA,
    OWNER as OWNER,
    Schema as Schema,
    custom_resources as custom_resources,
    pod_spec as pod_spec,
)
from kueuepy.manifest.text.text import (
    SURROGATE as SURROGATE,
)
from kueuepy.manifest.validation import (
    called as called,
    check_read as check_read,
)
from kueuepy.manifest.versions import (
    to_v1beta2 as to_v1beta2,
)

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
