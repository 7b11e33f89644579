"""Writes the decisions of a Scheduler as a readable transcript."""

from __future__ import annotations

from kueuepy import Cluster, Scheduler
from kueuepy.engine.decisions import Admitted, Preempting
from kueuepy.objects import PodSet, Workload


class Transcript:
    """A Scheduler and its transcript. Amounts are CPUs; every workload has one pod set."""

    def __init__(self, title: str, cluster: Cluster) -> None:
        self.scheduler = Scheduler(cluster, now=0)
        self.lines = [f"# {title}"]
        self._cycles = 0

    def submit(self, name: str, queue: str, cpu: int, priority: int = 0, count: int = 1, **pods) -> None:
        pod_set = PodSet.of(count=count, requests={"cpu": cpu}, **pods)
        self.scheduler.submit(Workload(name, queue_name=queue, priority=priority, pod_sets=(pod_set,)))
        size = f"{count} x {cpu}" if count > 1 else f"{cpu}"
        self.lines.append(f"submit {name} to {queue}: priority {priority}, cpu {size}")

    def say(self, what: str) -> None:
        self.lines.append(what)

    def wait(self, seconds: int) -> None:
        self.scheduler.advance(seconds)

    def cycle(self, times: int = 1) -> None:
        for _ in range(times):
            before = self._evicted()
            made = self.scheduler.cycle()
            self._cycles += 1
            self.lines.append(f"cycle {self._cycles} @{self.scheduler.now:g}s" + (" idle" if made.idle else ""))
            self._tell(before)
            for decision in made:
                self.lines.append(f"  {decision.workload.removeprefix('default/'):8} {self._decided(decision)}")
        self.usage()

    def settle_controllers(self) -> None:
        """Run the controllers without a cycle."""
        before = self._evicted()
        self.scheduler._engine.settle()
        self._tell(before)

    def usage(self) -> None:
        for queue, cells in self.scheduler._engine.usage().items():
            for cell, amount in cells.items():
                self.lines.append(f"  usage    {queue} {cell} {amount / 1000:g}")

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def _evicted(self) -> dict[str, str]:
        engine, found = self.scheduler._engine, {}
        keys = self.scheduler.keys()
        for key in keys:
            evicted = engine.condition(engine.find(key), "Evicted")
            if evicted is not None and evicted[0]:
                found[key] = f"{evicted[1]}: {evicted[2]}"
        return found

    def _tell(self, before: dict[str, str]) -> None:
        """Return the evictions since the last call that preemptors of the cycle did not cause."""
        for key, why in self._evicted().items():
            if key not in before and not why.startswith("Preempted"):
                self.lines.append(f"  {key.removeprefix('default/'):8} evicted: {why}")

    @staticmethod
    def _decided(decision) -> str:
        match decision:
            case Admitted():
                (held,) = decision.pod_sets
                level = f", borrowing at level {decision.borrowing_level}" if decision.borrowing_level else ""
                waits = "" if decision.admitted else ", waiting for checks"
                return f"-> admitted: {held.count} on {held.flavors['cpu']}{level}{waits}"
            case Preempting():
                victims = [
                    f"{target.workload.removeprefix('default/')} ({target.reason})" for target in decision.targets
                ]
                return f"-> preempting {', '.join(victims)}; {decision.reason}: {decision.message}"
        return f"-> {decision.reason}: {decision.message}"
