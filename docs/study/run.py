"""Run the study "What does a quota guarantee on Kueue?", or run it on a log of your own.

    python docs/study/run.py                               # the shipped extract; rewrites the page of the study
    python docs/study/run.py --short                       # repeat one week, and compare it with the stored results
    python docs/study/run.py --text                        # only write the page again from the stored results
    python docs/study/run.py --whole philly.csv            # the whole Philly log, for the section on it
    python docs/study/run.py --log jobs.csv --out my-study # any log that kueuepy.Jobs.read reads
    python docs/study/run.py --log jobs.csv --out my-study --quotas manifests/ # with the quotas of your ClusterQueues

The first command needs kueuepy with the extra `plot`. It takes a few minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import study

import kueuepy as kq

HERE = Path(__file__).resolve().parent
LOG = HERE.parents[1] / "examples" / "logs" / "philly.csv.gz"
RESULTS, WHOLE = HERE / "results.json", HERE / "results-whole.json"
SHORT_LOAD = 1.0


def simulated(
    path: Path, file_format: str, weeks: range, loads: tuple[float, ...], nominal: dict[str, int] | None = None
) -> dict[str, Any]:
    """Read a log, simulate all policies, and return the results with a description of the input."""
    begin = time.perf_counter()
    jobs = kq.Jobs.read(path, format=file_format)
    jobs = jobs.clean()
    found = study.run(jobs, loads, weeks, lambda text: print(text, file=sys.stderr, flush=True), nominal)
    print(f"{time.perf_counter() - begin:.0f} s", file=sys.stderr)
    return {"input": study.facts(path, jobs, weeks, loads, nominal), "results": found}


def written(results: dict[str, Any], path: Path) -> None:
    """Write results as JSON, with one line for each policy and load."""
    lines = [f'{{"input": {json.dumps(results["input"])},', '"results": {']
    policies = []
    for policy, loads in results["results"].items():
        rows = ",\n".join(f"  {json.dumps(load)}: {json.dumps(values)}" for load, values in loads.items())
        policies.append(f" {json.dumps(policy)}: {{\n{rows}}}")
    path.write_text("\n".join(lines) + "\n" + ",\n".join(policies) + "}}\n", encoding="utf-8")


def differences(found: dict[str, Any], stored: dict[str, Any]) -> list[str]:
    """Return the values of a short run that differ from the stored results."""
    wrong = []
    for policy, loads in found.items():
        for load, values in loads.items():
            for name, value in values.items():
                known = stored[policy][load][name]
                pairs = (
                    [(key, value[key][0], known[key][0]) for key in value]
                    if isinstance(value, dict)
                    else [("", value[0], known[0])]
                )
                wrong += [f"{policy} {load} {name} {key}: {new}, stored {old}" for key, new, old in pairs if new != old]
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Run the study; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--log", type=Path, default=LOG, help="file with the jobs; default: the shipped Philly extract")
    parser.add_argument("--format", default="auto", help="format of the log, as in kueuepy.Jobs.read")
    parser.add_argument("--quotas", nargs="+", help="manifests of the ClusterQueues whose GPU quotas are used")
    parser.add_argument("--weeks", type=int, default=study.WEEKS, help="number of bootstrapped weeks; default: 39")
    parser.add_argument("--loads", type=float, nargs="+", default=study.LOADS, help="factors of the arrival rate")
    parser.add_argument("--out", type=Path, help="directory for the results; default: docs/study")
    parser.add_argument("--short", action="store_true", help="repeat one week and compare it with the stored results")
    parser.add_argument("--text", action="store_true", help="write the page from the stored results")
    parser.add_argument("--whole", type=Path, help="simulate the whole Philly log, at load 1 only")
    options = parser.parse_args(arguments)
    if options.quotas and options.out is None:
        parser.error("--quotas needs --out: the page of the study uses estimated quotas")
    warnings.simplefilter("ignore", UserWarning)
    if options.short:
        jobs = kq.Jobs.read(LOG).clean()
        wrong = differences(study.run(jobs, [SHORT_LOAD], [0]), json.loads(RESULTS.read_text("utf-8"))["results"])
        print("\n".join(wrong) or f"week 1 of {len(study.POLICIES)} policies: all values equal the stored results")
        return bool(wrong)
    if options.whole is not None:
        written(simulated(options.whole, options.format, range(options.weeks), (SHORT_LOAD,)), WHOLE)
        return 0
    import page  # noqa: PLC0415 - needs matplotlib, unlike the short run

    out = HERE if options.out is None else options.out
    out.mkdir(parents=True, exist_ok=True)
    if not options.text:
        weeks, loads = range(options.weeks), tuple(options.loads)
        nominal = study.quotas(kq.load(options.quotas, names=False)) if options.quotas else None
        written(simulated(options.log, options.format, weeks, loads, nominal), out / "results.json")
        page.draw(json.loads((out / "results.json").read_text("utf-8")), options.log, options.format, out)
    results = json.loads((out / "results.json").read_text("utf-8"))
    if out == HERE:
        whole = json.loads(WHOLE.read_text("utf-8"))
        (out / "index.md").write_text(page.text(results, whole), encoding="utf-8")
    else:
        (out / "index.md").write_text(page.tables(results), encoding="utf-8")
    print(f"wrote {out / 'index.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
