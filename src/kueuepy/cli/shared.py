"""Types and descriptions of the arguments and options that several commands share.

Options:
    files (FILE): YAML, JSON or CSV (jobs) file, directory, - (stdin), saved state, recording, or cluster:CONTEXT.
    workload (WORKLOAD): Name of a workload or of its job: NAME, NAMESPACE/NAME or QUEUE/NAME.
    namespace (NAME): Namespace of objects and jobs without one.
    json: Print JSON instead of text.
    lenient: Correct input that an API server rejects, and report the corrections.
    kueue_version (VERSION): Kueue release to emulate, v0.15 or later.  [default: v0.20-devel]
    threads (N): Number of threads of a simulation; by default, one per core.
    latency (DURATION): Maximum time from a decision of Kueue to its API write.
    at_least (FRACTION): Exit with code 3 if a smaller fraction of decisions matches.
    users (LABEL): Workload label whose value is the name of the user (default: no label).
    futures (N): Number of Monte Carlo simulations.
    horizon (TIME): Virtual time that each Monte Carlo simulation covers.
    runtimes (TIME|FILE): Runtime of every workload, or a job log to draw runtimes from.
    future (FILE): File of future jobs; their submit times are relative to the current time.
    seed (N): Random seed of the first simulation; the next ones count up.
    edit (FILE): File of partial objects to merge into the others, as kubectl apply does.
    history (FILE): Recording or dump from which to estimate runtimes and arrivals.
    stop_after (TIME): Stop after this time; by default, run until interrupted.
    as_is: Use the state in the files as it is, without scheduling cycles first.
    exit_code: Exit with code 3 if the command finds any difference.
    rows (N): Maximum number of rows to print per table.
    until (TIME): Stop the simulation at this time; by default, when no event is left.
    warmup (TIME): Exclude jobs submitted before this time from the metrics.
    jobs (FILE): File of jobs to simulate: a log, a table or manifests.
    format_ (NAME): Format of the jobs file, such as csv or swf, or auto.
    map_ (NAME=COLUMN): Read the job field NAME from COLUMN, e.g. queue=team; repeatable.
    window (FROM:TO): Keep only jobs submitted from time FROM until before TO, e.g. 7d:21d.
    censored (HOW): drop unfinished jobs, or draw their remaining runtimes (exponential).
    seeds (N): Simulations per policy; with 2 or more, each shuffles the days of the log.
    storage (FILE): Store finished simulations in this file, for a repetition to reuse.
    title (TEXT): Title of the page.
    port (N): Port to listen on; 0 selects a free port.
    browser: Open the page in a browser.
    sources (SOURCE): YAML, JSON or CSV file, recording, saved state, simulate --out directory, or cluster:CONTEXT.
"""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Fraction: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Port: TypeAlias = Annotated[int, Meta(ge=0, le=65535)]
Censored: TypeAlias = Literal["drop", "exponential"]
