"""`kueuepy whatif`: test hypothetical jobs and changes without applying them."""

from typing import Any

from kueuepy.cli.describe import describe, jobs_of, plain, rows_table, start
from kueuepy.cli.logs import setting
from kueuepy.cli.options import Positive, Start, paths
from kueuepy.cli.output import UsageError, announce, print_json, progress, say
from kueuepy.cluster.cluster import of_release
from kueuepy.cluster.patch import Patched, expect_complete, named_by, patched
from kueuepy.engine.decisions import Admitted, Preempting
from kueuepy.errors import InvalidSpecError, counted
from kueuepy.explain.whatif import Edit, existing_in, outcome_text, workloads_over_quota
from kueuepy.jobs import Submission
from kueuepy.manifest import Item, check, load, object_name, placed
from kueuepy.scheduler import Scheduler


def whatif(
    files: list[str],
    *,
    edit: str | None = None,
    replace: bool = False,
    set_: tuple[str, ...] = (),
    exit_code: bool = False,
    as_is: bool = False,
    rows: Positive = 40,
    reading: Start,
    json: bool = False,
) -> bool:
    """Test whether a job would be admitted now, or which decisions a change of objects would alter.

    Fields that the objects of --edit omit keep their values, and the value null removes a field; the command prints
    notes that list the kept and the removed fields. --set accepts the same paths as kueuepy sweep --over.

    Options:
        replace: With --edit, replace whole objects, as kubectl replace does.
        set_ (PATH=VALUE): Field to change and its new value, e.g. ClusterQueue/a:stopPolicy=Hold; repeatable.

    Examples:
        kueuepy whatif examples/seeds/002/two-teams.yaml --job examples/seeds/002/train.yaml
        kueuepy whatif examples/seeds/002/two-teams.yaml --job examples/seeds/002/train.yaml --largest
        kueuepy whatif examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv
            --edit examples/seeds/002/two-teams-reclaim.yaml --exit-code
        kueuepy whatif examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv
            --set 'ClusterQueue/team-a:quota[default-flavor/cpu].nominalQuota=16'
    """
    if edit is None and not set_:
        raise UsageError("whatif: one of --job, --edit and --set is required")
    if replace and edit is None:
        raise UsageError("--replace: needs --edit")
    scheduler = start(files, reading, settle=not as_is).noted()
    changed = [] if edit is None else _edits(scheduler, edit, reading, replace=replace)
    if set_:
        changed.append(dict(map(setting, set_)))
    with progress("deciding with and without the change"):
        difference = scheduler.whatif(*changed)
    announce(difference.not_modelled)
    with progress("comparing usage with quota"):
        leaving = workloads_over_quota(scheduler, *changed)
    unchanged = difference.unchanged()
    if json:
        data = {"changes": difference.changes, "unchanged": unchanged, "beyond_quota": leaving}
        print_json({**data, "remarks": difference.remarks})
    else:
        changes = [
            (change.workload, outcome_text(change.before), outcome_text(change.after)) for change in difference.changes
        ]
        rows_table("Decisions that would change", ("workload", "before", "after"), changes, rows)
        say(f"{counted(len(changes), 'decision')} would change" if changes else "nothing would change", style="bold")
        for text in () if changes else unchanged[:rows]:
            say(text)
        if not changes and not unchanged:
            say(f"no workload is pending; {counted(len(scheduler.keys()), 'workload')} considered")
        if (waited := difference.after.now - scheduler.now) > 0:
            say(f"note: decisions {waited:g} s after the change, when Kueue has handled the pods", stderr=True)
        for text in difference.remarks:
            say(text)
        if leaving:
            text = "usage stays over quota, because a change of quota evicts no workload; to end that, remove at least"
            say(f"{text}: {', '.join(leaving)}")
    return exit_code and bool(difference.changes)


def admissions(
    files: list[str],
    *,
    job: str,
    largest: bool = False,
    preempting: bool = False,
    as_is: bool = False,
    reading: Start,
    json: bool = False,
) -> bool:
    """Print the flavors that a job would get and the workloads that it would preempt, if it were submitted now.

    The exit code is 3 if a job would stay pending.

    Options:
        job (FILE): YAML, JSON or CSV file of jobs; for each job separately, test whether it would be admitted now.
        largest: Print the largest pod count with which the first pod set would be admitted.
        preempting: Count a job as admitted even if it must preempt other workloads.
    """
    scheduler = start(files, reading, settle=not as_is).noted()
    ask = _largest if largest else _try
    with jobs_of([job], namespace=reading.namespace) as found:
        items = [item.workload if isinstance(item, Submission) else item for item in found]
        if not items:
            raise InvalidSpecError(f"{job}: contains no job and no Workload; --job needs at least one")
        return ask(scheduler, items, preempting=preempting, json=json)


def _try(scheduler: Scheduler, items: list[Any], *, preempting: bool, json: bool) -> bool:
    answers = scheduler.try_admit_many(items)
    if json:
        print_json([plain(answer) for answer in answers])
    for answer in () if json else answers:
        verdict, detail = describe(answer)
        say(f"{answer.workload}: {verdict}: {detail}")
    good = (Admitted, Preempting) if preempting else (Admitted,)
    return not all(isinstance(answer, good) for answer in answers)


def _largest(scheduler: Scheduler, items: list[Any], *, preempting: bool, json: bool) -> bool:
    names = [answer.workload for answer in scheduler.try_admit_many(items)]
    counts = [scheduler.largest_count(item, preempting=preempting) for item in items]
    if json:
        print_json([{"workload": name, "largest_count": count} for name, count in zip(names, counts, strict=True)])
    else:
        say("\n".join(f"{name}: {counted(count, 'pod')}" for name, count in zip(names, counts, strict=True)))
    return 0 in counts


def _edits(scheduler: Scheduler, file: str, reading: Start, *, replace: bool) -> list[Edit]:
    """Return the objects of a file as they would be applied, and print the fields that it omits.

    Raises:
        KueueError: The file cannot be read, or a changed object is not valid.
    """
    # Partial objects are merged into existing ones, so that they are taken out before the file is validated.
    there = existing_in(scheduler)
    changed: list[tuple[Item, dict[str, Any]]] = []

    def pick(item: Item) -> bool:
        if named_by(there, item.value, reading.namespace) is None:
            with placed(item.where()):
                expect_complete(there, item.value)
            return False
        changed.append((item, item.value))
        return True

    manifest = load(paths([file]), strict=not reading.lenient, namespace=reading.namespace, pick=pick)
    if not changed and manifest.is_empty:
        raise InvalidSpecError(f"{file}: nothing to read; there must be at least one object")
    if manifest.jobs:
        say(f"note: {file}: jobs in this file are ignored; use --job to test jobs", stderr=True)
    made: dict[tuple[str, str], Edit] = {}
    for item, doc in changed:
        with placed(item.where()):
            found = patched(there, doc, replace=replace, namespace=reading.namespace)
            check(found.object, feature_gates=scheduler.configuration.gates)
        _say_absent(item.where(), object_name(doc), found, replace=replace)
        key = (type(found.object).__name__, found.object.key)
        if key in made:
            raise InvalidSpecError(f"{item.where()}: {object_name(doc)}: occurs twice; it must occur once")
        made[key] = found.object
    policy = manifest.configuration and of_release(manifest.configuration, scheduler.configuration.version)
    edits: list[Edit] = [*made.values(), *manifest.objects(), *([policy] if policy else [])]
    if not edits:
        wanted = "queues, cohorts, flavors or other objects that affect admission"
        raise InvalidSpecError(f"{file}: contains no object that affects admission; it must have {wanted}")
    return edits


def _say_absent(where: str, name: str, found: Patched, *, replace: bool) -> None:
    for verb, fields, other in (
        ("keeps", found.kept, "null removes a field, --replace removes all fields that the file omits"),
        ("removes", found.removed, "without --replace, they are kept" if replace else ""),
    ):
        if fields:
            hint = f"; {other}" if other else ""
            say(f"note: {where}: {name}: {verb} {', '.join(fields)}{hint}", stderr=True)
