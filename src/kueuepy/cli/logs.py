"""Reading of a file of jobs, and the options that control it."""

import msgspec

from kueuepy.cli.options import Reading
from kueuepy.cli.output import progress
from kueuepy.cli.shared import Censored
from kueuepy.cli.signature import UsageError
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import shown
from kueuepy.errors.words import counted
from kueuepy.simulation.censoring import censored_rows
from kueuepy.simulation.columns import MissingColumnsError
from kueuepy.simulation.items import workloads_of_jobs
from kueuepy.simulation.table import Jobs


class Log(msgspec.Struct, frozen=True):
    """How to read a file of jobs: a group of options."""

    format_: str = "auto"
    map_: tuple[str, ...] = ()
    window: str | None = None
    censored: Censored | None = None

    def read(self, path: str, option: str = "--censored") -> Jobs:
        """Read the jobs of a log, a table, manifests, a recording or a running cluster.

        Args:
            path: The file or the source.
            option: The name of the option `--censored` in error messages.

        Raises:
            InvalidSpecError: Some jobs had not finished, and `censored` is not set.
        """
        found = self.recorded(path)
        if self.censored is not None:
            found = found.complete(self.censored)
        elif left := int(censored_rows(found.exact()).sum()):
            raise InvalidSpecError(
                f"{path}: {counted(left, 'job')} had not finished, so the runtime is only a lower bound; "
                f"{option} must be drop or exponential"
            )
        if self.window is not None:
            first, _, last = self.window.partition(":")
            found = found.window(first or 0, last or None)
        return found

    def recorded(self, path: str) -> Jobs:
        """Read all jobs, with the runtimes so far of jobs that had not finished."""
        columns = dict(pair("--map", given) for given in self.map_)
        with progress(f"reading {path}"):
            if self.format_ == "auto" and path.endswith((".yaml", ".yml", ".json")):
                manifest = Reading().manifest([path])
                ran = workloads_of_jobs(manifest)
                is_dump = any(one.status is not None and one.status.conditions for one in ran)
                # The reader of a dump also reads statistics that a Workload does not keep.
                source = path if is_dump and len(ran) == len(manifest.workloads) else ran
                return Jobs.from_workloads(source) if is_dump else Jobs.from_manifests(manifest)
            try:
                return Jobs.read(path, self.format_, columns or None)
            except MissingColumnsError as error:
                options = " ".join(f"--map {name}=COLUMN" for name in error.names)
                raise InvalidSpecError(error.text(options)) from None


def pair(option: str, given: str, allowed: tuple[str, ...] = ()) -> tuple[str, str]:
    """Split `NAME=VALUE` into its two sides.

    Raises:
        UsageError: The text has another form, or the name is not one of the allowed names.
    """
    name, equals, value = given.partition("=")
    if not (name and equals and value) or (allowed and name not in allowed):
        names = f", NAME one of {', '.join(allowed)}" if allowed else ""
        raise UsageError(f"{option}: is {shown(given)}; it must be NAME=VALUE{names}")
    return name, value
