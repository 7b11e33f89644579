"""The Kueue version that kueuepy mirrors, as data: its feature gates and the parts that are not modelled."""

import msgspec

from kueuepy.cluster.unmodelled import fields
from kueuepy.errors.arguments import checked
from kueuepy.profiles import ALWAYS_OPEN, DEFAULTS, Rule, of_patch, open_answers, release_of, rules_of, version_of
from kueuepy.profiles.gates import COVERAGE, Coverage, Effect
from kueuepy.profiles.version import COMMIT, VERSION, installed

LEFT_OUT = {
    "controllers of admission checks of other projects": "set the state of a check, or pass functions as `checks`",
    "changes of a ProvisioningRequestConfig": "a Scheduler keeps the ProvisioningRequestConfigs it was created with",
    "allocation of devices": "devices are counted but not allocated; an unsupported CEL function is an error",
    "concurrent admission in simulations": "a Scheduler tries several flavors of a workload at the same time",
    "configurable preemption, effective quotas": "these settings are reported but have no effect",
    "pods and their failures": "the caller reports when the pods of a job are ready, failed or finished",
}
"""The parts of Kueue that are not modelled, and what kueuepy does instead."""

_REPLAYED = """
    Q-01 Q-02 Q-05 Q-06 Q-07 Q-08 QT-01 QT-02 QT-03 QT-04 QT-05 QT-06 QT-07 QT-08 QT-09 QT-11 QT-12 QT-13 QT-14 QT-15
    QT-17 QT-18 QT-21 QT-25 FL-01 FL-02 FL-03 FL-05 FL-06 FL-11 FL-12 FL-13 FL-18 PR-03 PR-04 PR-05 PR-06 PR-07 PR-16
    PR-22 FS-02 FS-08 FS-09 FS-10 FS-12 WL-08
"""
REPLAYED = tuple(_REPLAYED.split())
"""The acceptance tests whose results were confirmed by running Kueue's scheduler."""


class Gate(msgspec.Struct, frozen=True):
    """A feature gate of Kueue.

    Attributes:
        default: Whether the gate is on by default.
        effect: `modelled`, `no effect` if no decision depends on the gate, or `not modelled`.
        note: The reason or the consequence; empty for a gate that is modelled.
    """

    default: bool
    effect: Effect
    note: str = ""

    @property
    def effective(self) -> bool:
        """Whether kueuepy models the gate; otherwise the gate has no effect in kueuepy."""
        return self.effect == "modelled"


class Fidelity(msgspec.Struct, frozen=True):
    """The release of Kueue that kueuepy mirrors, and the limits of the model.

    Attributes:
        kueuepy: The version of kueuepy.
        commit: The commit of kubernetes-sigs/kueue that kueuepy mirrors.
        version: The release of Kueue, such as `v0.18.6`.
        api_versions: The versions of Kueue's API that kueuepy reads; kueuepy writes the last of these versions.
        feature_gates: Every feature gate of the release, by name.
        fields: The fields of Kueue's API and of its configuration file, by kind and path, each with its effect.
        job_kinds: The kinds of jobs that kueuepy reads, as `group/version Kind`.
        left_out: The parts of Kueue that are not modelled, and what kueuepy does instead.
        replayed: The ids of the acceptance tests whose results were confirmed by running Kueue's scheduler.
        rules: The rules in which the release differs from the mirrored commit, apart from the defaults of feature
            gates.
        open_answers: The cases in which Kueue's own result is random or undefined in this release.
    """

    kueuepy: str
    commit: str
    version: str
    api_versions: tuple[str, ...]
    feature_gates: dict[str, Gate]
    fields: dict[str, dict[str, Coverage]]
    job_kinds: tuple[str, ...]
    left_out: dict[str, str]
    replayed: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    open_answers: tuple[str, ...] = ()


@checked
def fidelity(version: str = VERSION) -> Fidelity:
    """Return the version of Kueue that kueuepy mirrors, its feature gates, and the parts that are not modelled.

    Convert the result to JSON with `msgspec.json.encode`.

    Args:
        version: A release of Kueue, such as `v0.18`; by default the mirrored commit.

    Returns:
        The data of the given release.

    Raises:
        InvalidSpecError: The release has no profile.

    Example:
        >>> found = fidelity()
        >>> found.commit, found.api_versions[-1], found.feature_gates["PartialAdmission"].default
        ('ff69552e79', 'v1beta2', True)
        >>> [rule.name for rule in fidelity("v0.18").rules], fidelity("v0.18").version
        (['device_admin_access_refused', 'multi_kueue_texts_of_v0_18'], 'v0.18.6')
    """
    from kueuepy.jobs import kinds  # noqa: PLC0415 - only on use

    release = release_of(version)
    return Fidelity(
        kueuepy=installed(),
        commit=COMMIT,
        version=release.newest,
        api_versions=("v1alpha1", "v1alpha2", "v1beta1", "v1beta2"),
        feature_gates={name: Gate(on, *COVERAGE[name]) for name, on in DEFAULTS[release].items()},
        fields=fields(),
        job_kinds=tuple(f"{version} {kind}" for version, kind in kinds()),
        left_out=LEFT_OUT | ({version_of(version): older} if (older := of_patch(version)) else {}),
        replayed=REPLAYED,
        rules=rules_of(release),
        open_answers=(*ALWAYS_OPEN, *open_answers(release)),
    )
