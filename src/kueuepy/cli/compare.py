"""`kueuepy compare`: compare two policies for the same jobs; `kueuepy upgrade`: compare two releases of Kueue."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.cli.describe import jobs_of, rows_table
from kueuepy.cli.logs import Log
from kueuepy.cli.options import Positive, Reading, paths, tables_in
from kueuepy.cli.output import announce, as_data, counting, print_answer, print_json, say
from kueuepy.cluster import Cluster
from kueuepy.cluster.early import OLDEST, is_early
from kueuepy.errors import InvalidSpecError, ManifestError, counted, verb
from kueuepy.lab.upgrade import Upgrade, compare_versions
from kueuepy.look.svg import expect_svg
from kueuepy.manifest import Manifest, is_live, load, opened
from kueuepy.objects import Configuration
from kueuepy.profiles import DEFAULTS, release_of
from kueuepy.simulation.changes import QueueOutcome
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.comparison import compare as compare_policies
from kueuepy.simulation.model import Missing, SimulateSettings
from kueuepy.simulation.pages import words


def compare(
    before: str,
    after: str,
    *,
    jobs: tuple[str, ...],
    with_: tuple[str, ...] = (),
    decisions: bool = False,
    picture: str | None = None,
    log: Log,
    missing: Missing | None = None,
    threads: Positive | None = None,
    exit_code: bool = False,
    reading: Reading,
    json: bool = False,
) -> bool:
    """Run the same jobs under two policies, and show which results differ and the totals of each queue.

    Jobs arrive at their creation time (`submit` in CSV) and run for their `duration`; an evicted job starts again from
    the beginning. If waitForPodsReady is enabled, pods are ready immediately after admission.

    Options:
        before (BEFORE): File with the objects of the first policy and, optionally, a Kueue Configuration.
        after (AFTER): File with the objects of the second policy and, optionally, a Kueue Configuration.
        jobs (FILE): YAML, JSON or CSV file of jobs to run under both policies; repeatable.
        with_ (FILE): File with objects to add to both policies; repeatable.
        decisions: Also list each decision that differs between the policies.
        picture (FILE): Write a chart of the main metrics and their differences to this SVG file.
        missing (HOW): Jobs whose LocalQueue does not exist: error, skip, or wait. By default, error under BEFORE, and
            wait under AFTER, which may delete a queue.

    Examples:
        kueuepy compare examples/seeds/002/two-teams.yaml examples/seeds/002/two-teams-reclaim.yaml
            --jobs examples/seeds/002/jobs.csv --exit-code
        kueuepy compare examples/seeds/003/classical.yaml examples/seeds/003/fair-sharing.yaml
            --with examples/seeds/003/two-queues.yaml
            --jobs examples/seeds/003/jobs.csv --decisions --picture differences.svg
    """
    if picture is not None:
        expect_svg(picture)
    clusters = [reading.cluster([name, *with_]) for name in (before, after)]
    names = (Path(before).stem, Path(after).stem)
    with jobs_of(jobs, log=log) as items, counting("jobs done") as show:
        how: SimulateSettings = {} if missing is None else {"missing": missing}
        found = compare_policies(clusters[0], clusters[1], items, names=names, threads=threads, progress=show, **how)
    given = (("a submission time", found.before.jobs["submit"].any()), ("a runtime", found.before.kpis.finished))
    lacks = " and ".join(what for what, is_given in given if not is_given)
    # Other commands read several files of jobs as FILE arguments.
    more, log_file = ([], jobs[0]) if len(jobs) == 1 else (jobs, None)
    for name, run in zip((before, after), found.results.values(), strict=True):
        run.source, run.lacks = log.source([name, *with_, *more], log_file, reading, missing), lacks
    if picture is not None:
        found.picture().save(picture)
    code = print_answer(found, _comparison_data(found), json=json, is_negative=exit_code and bool(found.changes))
    if decisions and not json:
        count = counted(len(found.decisions), "decision")
        say(f"{count} {verb(len(found.decisions), 'differ')}" if found.decisions else "all decisions are the same")
        for decision in found.decisions:
            say(f"  {decision}")
    return code


def _comparison_data(found: Comparison) -> dict[str, Any]:
    queues = {
        name: {policy: _outcome(one) for policy, one in zip(found.names, pair, strict=True)}
        for name, pair in found.queues.items()
    }
    first, last = found.names
    changes = [{"workload": one.workload, first: one.before, last: one.after} for one in found.changes]
    decisions = [
        {"seconds": one.seconds, "workload": one.workload, first: one.before, last: one.after}
        for one in found.decisions
    ]
    loops = {
        name: [{"period": loop.period, "workloads": loop.workloads} for loop in run.loops]
        for name, run in zip(found.names, (found.before, found.after), strict=True)
    }
    about: dict[str, Any] = {"jobs": len(found.before.jobs), "warnings": words.warnings_of_all(found.results)}
    # With --missing skip, a policy without a queue has fewer jobs, which have no pairs.
    with suppress(InvalidSpecError):
        about["differences"] = found.differences().rows()
    return {**about, "changes": changes, "decisions": decisions, "queues": queues, "loops": loops}


def _outcome(found: QueueOutcome | None) -> dict[str, Any] | None:
    """Return the totals of a queue as JSON data, or `None` if the policy has no such queue."""
    if found is None:
        return None
    data: dict[str, Any] = as_data(found)
    return {**data, "usage": _amounts(found.usage), "mean_usage": _amounts(found.mean_usage)}


def _amounts(used: Mapping[str, float]) -> dict[str, str]:
    """Return the amounts by flavor and resource as Kubernetes quantities."""
    return {name: Quantity.format(name.partition("/")[2], round(value)) for name, value in used.items()}


def upgrade(
    files: list[str],
    *,
    jobs: tuple[str, ...] = (),
    from_: str,
    to: str,
    log: Log,
    missing: Missing = "error",
    rows: Positive = 40,
    exit_code: bool = False,
    lenient: bool = False,
    json: bool = False,
) -> bool:
    """Run the same jobs under two releases of Kueue, and show which decisions differ and why.

    The command also lists the fields that the second release rejects or reads differently, and the feature gates that
    were added or removed, or whose default changed. Jobs run as in kueuepy compare. For releases before v0.15, kueuepy
    uses the rules of v0.15, except for rules that are known to have changed.

    Options:
        jobs (FILE): File of jobs to run under both releases; by default, the jobs in FILE; repeatable.
        from_ (VERSION): First Kueue release to compare, e.g. the installed one (v0.1 to v0.20-devel).
        to (VERSION): Second Kueue release to compare, e.g. the next one (v0.1 to v0.20-devel).

    Examples:
        kueuepy upgrade examples/seeds/002/two-teams.yaml --jobs examples/seeds/002/jobs.csv --from v0.17 --to v0.19
    """
    tables = [] if jobs else [table for name in files for table in tables_in(name)]
    objects = [name for name in files if name not in tables]
    is_strict = not (lenient or any(map(is_live, objects)))
    manifest = load(opened(paths(objects)), strict=is_strict, version=_profile(from_))
    given = None if jobs or tables else log.of_files(objects)
    if given is not None:
        manifest = msgspec.structs.replace(manifest, workloads=(), jobs=())
    cluster = Cluster.from_manifest(manifest, names=False)
    read = reading_changes(manifest, objects, from_, to, lenient=not is_strict)
    with jobs_of(jobs or tables, log=log) as items, counting("jobs done") as show:
        work = items if given is None else [given]
        found = compare_versions(cluster, work, from_, to, missing=missing, progress=show)
    announce(text for result in found.comparison.results.values() for text in result.not_modelled)
    if json:
        print_json(_upgrade_data(found, read))
    else:
        _print_compared(found, read, rows)
    return exit_code and bool(found.changes or read)


def reading_changes(manifest: Manifest, files: list[str], before: str, after: str, *, lenient: bool) -> list[str]:
    """Return a line for each field of the files that another release rejects or reads differently."""
    own = manifest.configuration or Configuration(version=release_of(_profile(before)).name)
    then_by = release_of(_profile(after))
    # A gate that a release does not have is an error in its Configuration.
    known = DEFAULTS[then_by]
    changed = [
        f"Configuration: featureGates.{name}: {then_by} has no such gate, and rejects it"
        for name in own.feature_gates
        if name not in known
    ]
    try:
        then = load(paths(files), strict=not lenient, version=then_by.name).configuration
    except ManifestError as error:
        others = (f"{where}: {what}" for where, what in error.problems if "featureGates" not in what.path)
        return [*changed, *others]
    for name in Configuration.__struct_fields__:
        old, new = getattr(own, name), getattr(then or Configuration(), name)
        if name != "version" and old != new:
            changed.append(f"Configuration: {name}: is read as {_short(new)}, not {_short(old)}")
    return changed


def _profile(version: str) -> str:
    """Return the release whose profile is used for a version."""
    return OLDEST if is_early(version) else version


def _short(value: Any) -> str:
    """Return a value as JSON: a duration as a number of seconds, and a value of another class as text."""
    if value is None:
        return "absent"
    return msgspec.json.encode(value, enc_hook=lambda one: float(one) if isinstance(one, float) else str(one)).decode()


def _print_compared(found: Upgrade, read: list[str], rows: int) -> None:
    shown = []
    for change in found.changes:
        when, job = f"{change.decision.seconds:g} s", change.decision.workload
        shown.append((when, job, str(change.decision).partition(job)[2].strip(), ", ".join(change.causes)))
    rows_table(f"Decisions that differ in {found.after}", ("time", "workload", "decision", "reason"), shown, rows)
    rules = [(rule.name, rule.what) for rule in found.early] + [(rule.name, rule.what) for rule in found.rules]
    rows_table("Changed rules", ("rule", "change"), rules, rows)
    gates = [tuple(str(gate).split(": ", 1)) for gate in found.gates]
    rows_table("Feature gates", ("gate", f"{found.before} → {found.after}"), gates, rows)
    for line in read:
        say(line)
    count = counted(len(found.changes), "decision")
    say(f"{count} would differ" if found.changes else "all decisions would be the same", style="bold")


def _upgrade_data(found: Upgrade, read: list[str]) -> dict[str, Any]:
    return {
        "from": found.before,
        "to": found.after,
        "decisions": [{"decision": change.decision, "causes": change.causes} for change in found.changes],
        "early": found.early,
        "rules": found.rules,
        "gates": found.gates,
        "reading": read,
    }
