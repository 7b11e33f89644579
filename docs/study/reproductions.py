"""Compare simulations with results of queueing theory, of a workload model and of published papers.

    python docs/study/reproductions.py                          # formulas and the workload model; rewrites the page
    python docs/study/reproductions.py --short                  # fewer and shorter runs; only checks them
    python docs/study/reproductions.py --nasa NASA-iPSC-1993-3.1-cln.swf.gz
    python docs/study/reproductions.py --openb openb_node_list_gpu_node.csv openb_pod_list_default.csv

Every comparison has a published or derived value, the simulated value with its 95 % confidence interval, and a verdict.
The script fails if a formula lies outside of the interval widened by 2 % of the formula.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kueuepy as kq

HERE = Path(__file__).resolve().parent
STORED = HERE / "reproductions.json"
GPU = "nvidia.com/gpu"
RUNS, JOBS = 20, 20_000
SHORT_RUNS, SHORT_JOBS = 4, 8_000
SEEDS = 12
"""Number of seeds that show how much a statistic of generated jobs varies."""
BUSY = "arrivals from 12:00 to 15:00, per cent"
WARMUP = 0.1
"""Fraction of the jobs of a run that is excluded as a warm-up."""
TOLERANCE = 0.02
_RECORD = kq.sim.Recording(decisions=False, runs=False, usage=False)
_T95 = {3: 3.182, 19: 2.093}
"""Quantiles of Student's t distribution at 97.5 %, by degrees of freedom."""


class Case(NamedTuple):
    """A comparison of a mean wait with a formula.

    Attributes:
        name: The name of the comparison.
        formula: The mean wait by the formula, in units of the mean runtime.
        mean: The mean of the simulated runs.
        low: The lower end of the 95 % confidence interval.
        high: The upper end of the interval.
    """

    name: str
    formula: float
    mean: float
    low: float
    high: float

    @property
    def agrees(self) -> bool:
        """Whether the interval, widened by the tolerance, contains the formula."""
        slack = TOLERANCE * self.formula
        return self.low - slack <= self.formula <= self.high + slack


def erlang_c(servers: int, load: float) -> float:
    """Return the mean wait in an M/M/c queue whose mean runtime is 1 (Erlang's C formula)."""
    offered = servers * load
    last = offered**servers / math.factorial(servers) / (1 - load)
    waits = last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)
    return waits / (servers * (1 - load))


def pollaczek(load: float, second_moment: float) -> float:
    """Return the mean wait in an M/G/1 queue whose mean runtime is 1 (Pollaczek and Khinchine)."""
    return load * second_moment / (2 * (1 - load))


def cobham(loads: tuple[float, ...], second_moment: float) -> list[float]:
    """Return the mean wait of each class, highest priority first, in an M/G/1 queue without preemption (Cobham)."""
    residual = sum(loads) * second_moment / 2
    sums = [sum(loads[:k]) for k in range(len(loads) + 1)]
    return [residual / ((1 - sums[k]) * (1 - sums[k + 1])) for k in range(len(loads))]


def preemptive(loads: tuple[float, ...], second_moment: float) -> list[float]:
    """Return the mean time without the server of each class in an M/G/1 queue with preemption and resumption."""
    found, sums = [], [sum(loads[:k]) for k in range(len(loads) + 1)]
    for k in range(len(loads)):
        residual = sum(loads[: k + 1]) * second_moment / 2
        found.append(1 / (1 - sums[k]) + residual / ((1 - sums[k]) * (1 - sums[k + 1])) - 1)
    return found


def runtimes(kind: str, rng: np.random.Generator, n: int) -> Any:
    """Return random runtimes with mean 1."""
    if kind == "exponential":
        return rng.exponential(1.0, n)
    if kind == "constant":
        return np.ones(n)
    if kind == "lognormal":  # the squared coefficient of variation is 2
        sigma2 = math.log(3)
        return rng.lognormal(-sigma2 / 2, math.sqrt(sigma2), n)
    # Hyperexponential with balanced means: the squared coefficient of variation is 4.
    p = (1 + math.sqrt(3 / 5)) / 2
    return rng.exponential(1.0, n) / (2 * np.where(rng.random(n) < p, p, 1 - p))


SECOND_MOMENTS = {"exponential": 2.0, "constant": 1.0, "lognormal": 3.0, "hyperexponential": 5.0}
SCALE = 1000.0
"""Seconds in a mean runtime."""


def simulated(kind: str, servers: int, loads: tuple[float, ...], seed: int, jobs: int, *, preempt: bool) -> list[float]:
    """Return the mean wait of each priority class in one simulation, in units of the mean runtime."""
    rng = np.random.Generator(np.random.PCG64(seed))
    total = sum(loads)
    submit = np.cumsum(rng.exponential(SCALE / (servers * total), jobs))
    classes = rng.choice(len(loads), jobs, p=np.array(loads) / total)
    table = kq.Jobs(
        {
            "queue": ["q"] * jobs,
            "submit": submit,
            "runtime": np.maximum(runtimes(kind, rng, jobs) * SCALE, 1e-6),
            "priority": (len(loads) - classes) * 10,
            GPU: np.ones(jobs, np.int64),
        }
    )
    rules = kq.Preemption(within_cluster_queue="LowerPriority" if preempt else "Never")
    queue = kq.ClusterQueue.of("q", {"f": {GPU: servers}}, queueing_strategy="StrictFIFO", preemption=rules)
    cluster = kq.Cluster(kq.ResourceFlavor("f"), queue)
    result = kq.simulate(cluster, table, model=kq.sim.RunModel("resume"), record=_RECORD)
    waited = result.jobs["waited"]
    measured = np.arange(jobs) >= WARMUP * jobs
    return [float(waited[measured & (classes == k)].mean()) / SCALE for k in range(len(loads))]


def cases(runs: int, jobs: int) -> list[Case]:
    """Run all comparisons with formulas."""
    found = []

    def compare(names: list[str], formulas: list[float], *setup: Any, preempt: bool = False) -> None:
        values = np.array([simulated(*setup, seed, jobs, preempt=preempt) for seed in range(runs)])
        half = _T95[runs - 1] * values.std(axis=0, ddof=1) / math.sqrt(runs)
        for name, formula, mean, wide in zip(names, formulas, values.mean(axis=0), half, strict=True):
            found.append(Case(name, *(float(f"{one:.5g}") for one in (formula, mean, mean - wide, mean + wide))))

    for servers, load in ((1, 0.5), (1, 0.8), (4, 0.8), (16, 0.9)):
        compare([f"M/M/{servers}, load {load}"], [erlang_c(servers, load)], "exponential", servers, (load,))
    for kind in ("constant", "lognormal", "hyperexponential"):
        compare([f"M/G/1, {kind} runtimes, load 0.7"], [pollaczek(0.7, SECOND_MOMENTS[kind])], kind, 1, (0.7,))
    loads = (0.2, 0.3, 0.3)
    for kind in ("exponential", "constant"):
        names = [f"three priorities, {kind} runtimes, no preemption: {text}" for text in ("high", "middle", "low")]
        compare(names, cobham(loads, SECOND_MOMENTS[kind]), kind, 1, loads)
    names = [f"three priorities, exponential runtimes, preemption: {text}" for text in ("high", "middle", "low")]
    compare(names, preemptive(loads, 2.0), "exponential", 1, loads, preempt=True)
    return found


def lublin(jobs: int, seed: int = 0) -> dict[str, tuple[float, float]]:
    """Return statistics of jobs of the model of Lublin and Feitelson: the value of the model, and the measured one."""
    table = kq.Jobs.lublin(seed=seed, n=jobs, processors=128)
    sizes = np.asarray(table["pods"])
    runtime = np.maximum(np.asarray(table["runtime"], float), 1.0)
    parallel = sizes[sizes > 1]
    short = np.clip(0.78 - 0.0054 * sizes, 0, 1)
    means = [_mean_below(*gamma, 12.0) for gamma in ((4.2, 0.94), (312.0, 0.03))]
    weights = _weights()
    hours = np.bincount((seconds(table) // 3600 % 24).astype(int), minlength=24)
    shares = 100 * weights.reshape(24, 2).sum(axis=1)
    return {
        "jobs of one processor, per cent": (24.4, 100 * float((sizes == 1).mean())),
        "parallel jobs up to 22 processors (2^4.5), per cent": (86.0, 100 * float((parallel <= 2**4.5).mean())),
        "jobs whose size is a power of two, per cent (model: at least)": (
            24.4 + 57.6,
            100 * float((np.log2(sizes) % 1 == 0).mean()),
        ),
        "mean natural logarithm of the runtime in seconds": (
            float((short * means[0] + (1 - short) * means[1]).mean()),
            float(np.log(runtime).mean()),
        ),
        BUSY: (float(shares[12:15].sum()), 100 * float(hours[12:15].sum()) / jobs),
        "arrivals from 3:00 to 6:00, per cent": (float(shares[3:6].sum()), 100 * float(hours[3:6].sum()) / jobs),
    }


def spread(jobs: int) -> tuple[float, float]:
    """Return the mean and the standard deviation of the percentage of arrivals in the busy hours over some seeds."""
    values = np.array([lublin(jobs, seed)[BUSY][1] for seed in range(SEEDS)])
    return float(f"{values.mean():.5g}"), float(f"{values.std(ddof=1):.5g}")


def seconds(jobs: kq.Jobs) -> Any:
    """Return the submission times in seconds; dates count from 1970."""
    submit = np.asarray(jobs["submit"])
    return submit.astype("M8[ns]").astype(np.int64) / 1e9 if submit.dtype.kind == "M" else submit.astype(float)


def _density(shape: float, scale: float, x: Any) -> Any:
    """Return the density of a gamma distribution."""
    return np.exp((shape - 1) * np.log(x / scale) - x / scale - math.lgamma(shape)) / scale


def _mean_below(shape: float, scale: float, most: float) -> float:
    """Return the mean of a gamma distribution truncated at `most`."""
    x = np.linspace(1e-6, most, 100_001)
    density = _density(shape, scale, x)
    return float((x * density).sum() / density.sum())


def _weights() -> Any:
    """Return the fraction of arrivals in each half-hour of the day in the model."""
    found = np.zeros(48)
    for slot in range(11, 59):
        x = np.linspace(slot - 0.5, slot + 0.5, 101)
        found[(slot - 1) % 48] = _density(8.1737, 3.9631, x).mean()
    return found / found.sum()


def nasa(path: Path) -> dict[str, tuple[str, str]]:
    """Simulate the log of the NASA Ames iPSC/860; return published and simulated values."""
    jobs = kq.Jobs.read(path, format="swf")
    sizes = np.asarray(jobs["pods"])
    resource = next(iter(jobs.resources))
    queue = kq.ClusterQueue.of("jobs", {"f": {resource: 128}}, queueing_strategy="StrictFIFO")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), queue)
    result = kq.simulate(cluster, jobs, record=_RECORD)
    runtime = np.asarray(jobs["runtime"], float)
    work = runtime * sizes
    used = next(iter(result.kpis.submission_utilisation.values()))
    submit = seconds(jobs)
    hour = (submit // 3600 % 24).astype(int)  # the log begins at midnight
    days = (submit.max() - submit.min()) / 86_400
    peak = np.bincount(hour, minlength=24).max() / days
    trend = [float(runtime[sizes == 2**k].mean()) for k in range(8)]
    return {
        "utilisation of 128 nodes": ("50 % without downtime", f"{used:.1%} with downtime"),
        "work of parallel jobs": ("most of the node-seconds", f"{work[sizes > 1].sum() / work.sum():.1%}"),
        "mean runtime by size, 1 to 128 nodes": (
            "grows with the size",
            ", ".join(f"{one:.0f}" for one in trend) + " s",
        ),
        "submissions in the busiest hour": ("somewhat fewer than 30", f"{peak:.1f} (without 24,025 removed jobs)"),
        "jobs that wait, although all started at once": ("0", f"{int((result.jobs['waited'] > 0).sum())}"),
    }


def openb(nodes_file: Path, pods_file: Path, seed: int = 0) -> dict[str, tuple[str, str]]:
    """Fill the cluster of the openb log with whole GPUs; return published and simulated values."""
    import csv  # noqa: PLC0415 - only here

    with nodes_file.open(encoding="utf-8") as file:
        hosts = [row for row in csv.DictReader(file) if int(row["gpu"])]
    with pods_file.open(encoding="utf-8") as file:
        pods = list(csv.DictReader(file))
    capacity = sum(int(row["gpu"]) for row in hosts)
    topology = kq.Topology("hosts", levels=["kubernetes.io/hostname"])
    nodes = [
        kq.Node(
            row["sn"],
            allocatable={
                "cpu": f"{row['cpu_milli']}m",
                "memory": f"{row['memory_mib']}Mi",
                GPU: row["gpu"],
                "pods": "110",
            },
            labels={"kubernetes.io/hostname": row["sn"], "pool": "all"},
        )
        for row in hosts
    ]
    huge = {"all": {"cpu": 10**9, "memory": "1000000Ti", GPU: capacity}}
    flavor = kq.ResourceFlavor("all", node_labels={"pool": "all"}, topology_name="hosts")
    cluster = kq.Cluster(topology, flavor, kq.ClusterQueue.of("q", huge), nodes)
    rng = np.random.Generator(np.random.PCG64(seed))
    asked, rows = 0, []
    while asked < 1.3 * capacity:
        pod = pods[int(rng.integers(len(pods)))]
        gpus = int(pod["num_gpu"])
        asked += gpus
        rows.append(
            {
                "queue": "q",
                "submit": len(rows),
                "runtime": "1000d",
                "cpu": f"{pod['cpu_milli']}m",
                "memory": f"{pod['memory_mib']}Mi",
                "gpu": gpus,
            }
        )
    result = kq.simulate(cluster, rows, until=float(len(rows)), record=kq.sim.Recording(decisions=False))
    used = int(result.usage["used"][np.asarray(list(result.usage["flavor_resource"])) == f"all/{GPU}"][-1])
    return {
        "GPUs of the cluster": ("more than 6,200", f"{capacity:,}"),
        "GPUs left unallocated when 130 % are requested": (
            "about 590 with the best other packing, 300 with FGD (derived: 49 % are 290)",
            f"{capacity - used:,} (whole GPUs, pods in random order)",
        ),
    }


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def formulas_table(stored: dict[str, Any]) -> str:
    """Return the comparisons with formulas."""
    rows = []
    for values in stored["formulas"]:
        case = Case(*values)
        interval = f"{case.low:.3f} to {case.high:.3f}"
        change = f"{case.mean / case.formula - 1:+.1%}"
        rows.append([case.name, f"{case.formula:.3f}", f"{case.mean:.3f}", interval, change])
    return table(["queue", "formula", "simulated", "95 % interval", "difference"], rows)


def differences(stored: dict[str, Any]) -> str:
    """Return the statements about the largest difference and about the intervals."""
    found = [Case(*values) for values in stored["formulas"]]
    inside = sum(case.low <= case.formula <= case.high for case in found)
    worst = max(found, key=lambda case: abs(case.mean / case.formula - 1))
    return (
        f"The largest difference is that of {worst.name}: {worst.mean / worst.formula - 1:+.1%}. "
        f"{inside} of {len(found)} formula values lie inside their confidence intervals."
    )


def spread_text(stored: dict[str, Any]) -> str:
    """Return how much the percentage of arrivals in the busy hours varies between seeds."""
    mean, deviation = stored["spread"]
    return f"from 12:00 to 15:00, the mean over {SEEDS} seeds is {mean:.2f} and the standard deviation {deviation:.2f}"


def lublin_table(stored: dict[str, Any]) -> str:
    """Return the statistics of the workload model."""
    rows = [[name, f"{model:.2f}", f"{found:.2f}"] for name, (model, found) in stored["lublin"].items()]
    return table(["statistic", "model", "100,000 generated jobs"], rows)


def paper_table(stored: dict[str, Any], name: str) -> str:
    """Return the comparison with a paper."""
    head = ["figure", "published", "from the log or the simulation" if name == "nasa" else "simulated"]
    return table(head, [[what, *pair] for what, pair in stored[name].items()])


def page(stored: dict[str, Any]) -> str:
    """Return the page of the reproductions."""
    found = {
        "formulas": formulas_table(stored),
        "differences": differences(stored),
        "spread": spread_text(stored),
        "lublin": lublin_table(stored),
        "nasa": paper_table(stored, "nasa"),
        "openb": paper_table(stored, "openb"),
    }
    text = (HERE / "reproductions.md.in").read_text(encoding="utf-8")
    note = "<!-- Written by docs/study/reproductions.py from its .json and .md.in files. Do not edit. -->\n\n"
    return note + re.sub(r"\{(\w+)\}", lambda match: found[match[1]], text)


def main(arguments: list[str] | None = None) -> int:
    """Run the comparisons; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="run fewer and shorter simulations, and only check them")
    parser.add_argument("--text", action="store_true", help="write the page from the stored results")
    parser.add_argument("--nasa", type=Path, help="the log of the NASA Ames iPSC/860")
    parser.add_argument("--openb", type=Path, nargs=2, help="the nodes and the pods of the openb log")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UserWarning)
    stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    if options.short:
        found = cases(SHORT_RUNS, SHORT_JOBS)
        wrong = [case for case in found if not case.agrees]
        print("\n".join(map(str, wrong)) or f"{len(found)} comparisons agree")
        return bool(wrong)
    if options.nasa:
        stored["nasa"] = nasa(options.nasa)
    elif options.openb:
        stored["openb"] = openb(*options.openb)
    elif not options.text:
        found = cases(RUNS, JOBS)
        stored |= {"formulas": [list(case) for case in found], "lublin": lublin(100_000), "spread": spread(100_000)}
        if wrong := [case for case in found if not case.agrees]:
            print("\n".join(map(str, wrong)), file=sys.stderr)
            return 1
    STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    (HERE / "reproductions.md").write_text(page(stored), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
