"""Rules for tolerations in ResourceFlavors and in pod set updates, which distinguish absent from empty strings.

Source: the CEL rules of `tolerations` in `apis/kueue/v1beta2/resourceflavor_types.go`, and
`pkg/webhooks/workload_webhook.go:validateTolerations`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.errors.problems import shown
from kueuepy.manifest.formats import LABEL_LENGTH, is_label_key
from kueuepy.objects.flavor import TAINT_EFFECTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.errors.problems import Path
    from kueuepy.manifest.findings import Findings

_OPERATORS = ("Equal", "Exists")


def review_tolerations(tolerations: Iterable[dict[str, Any]], path: Path, findings: Findings) -> None:
    """Check a list of tolerations that already conforms to its schema."""
    for position, toleration in enumerate(tolerations):
        place = (*path, position)
        operator, effect, key = (toleration.get(name) for name in ("operator", "effect", "key"))
        for name, value, words in (("operator", operator, _OPERATORS), ("effect", effect, TAINT_EFFECTS)):
            if value is not None and value not in words:
                detail = f"{shown(value)} is not supported; it must be one of {', '.join(words)}, or absent"
                findings.problem((*place, name), detail, "NotSupported")
        if key is None and operator != "Exists":
            findings.problem((*place, "operator"), "must be Exists where there is no key, which stands for all keys")
        if key and not is_label_key(key):
            detail = f"is {shown(key)}; it must be a label key: at most {LABEL_LENGTH} letters, digits, -, _ and ., "
            findings.problem((*place, "key"), f"{detail}if need be after a DNS subdomain and /")
        if operator == "Exists" and "value" in toleration:
            findings.problem((*place, "value"), "must be absent where operator is Exists")
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            findings.problem((*place, "effect"), "must be NoExecute where tolerationSeconds is set")
