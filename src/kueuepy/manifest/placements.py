"""The compressed form of a TopologyAssignment in manifests.

Domains are grouped into slices. Common prefixes and suffixes of domain names are written once per slice.

Source: `pkg/util/tas/tas_assignment.go` (`InternalSeqFrom`, `V1Beta2From`).
"""

from collections.abc import Iterator, Sequence
from typing import Any

from kueuepy.errors import Path
from kueuepy.manifest.findings import Findings

# `maxItems` of the values of a slice in v1beta2.
_MOST_IN_A_SLICE = 100_000
# Largest `count` of a pod set, which is a 32-bit integer.
_MOST_PODS = 2**31 - 1
Domain = tuple[tuple[str, ...], int]


def read(assignment: dict[str, Any]) -> dict[str, Any]:
    """Expand the slices of a TopologyAssignment."""
    domains = [one for part in assignment.get("slices", ()) for one in _domains(part)]
    return {"levels": assignment["levels"], "domains": [{"values": v, "count": count} for v, count in domains]}


def review_placement(assignment: dict[str, Any], path: Path, findings: Findings) -> None:
    """Check that each slice has one value per domain and level, and one number of pods per domain."""
    for position, part in enumerate(assignment.get("slices", ())):
        if fault := _fault(part, len(assignment["levels"])):
            location, detail = fault
            findings.problem((*path, "slices", position, *location), detail)
            return


def _fault(part: dict[str, Any], levels: int) -> tuple[Path, str] | None:
    count, per_level, pods = part["domainCount"], part["valuesPerLevel"], part["podCounts"]
    if count > _MOST_PODS:
        return ("domainCount",), f"is {count}; it must be a whole number from 1 to {_MOST_PODS}"
    if len(per_level) != levels:
        return ("valuesPerLevel",), f"has {len(per_level)} items; there must be one for each level"
    for position, values in enumerate(per_level):
        each = values.get("individual")
        if ("universal" in values) == (each is not None) or (each is not None and len(each["roots"]) != count):
            detail = f"must have either universal, or individual with {count} roots (domainCount)"
            return ("valuesPerLevel", position), detail
    counts = pods.get("individual")
    if ("universal" in pods) == (counts is not None) or (counts is not None and len(counts) != count):
        return ("podCounts",), f"must have either universal, or individual of {count} (domainCount)"
    if counts is None and _is_one_domain(part) and pods["universal"] * count > _MOST_PODS:
        said = f"has {count} times {pods['universal']} pods (domainCount); they must be {_MOST_PODS} at most"
        return ("podCounts", "universal"), said
    return None


def _is_one_domain(part: dict[str, Any]) -> bool:
    """Return whether all domains of a slice are the same domain."""
    return all(values.get("individual") is None for values in part["valuesPerLevel"])


def _domains(part: dict[str, Any]) -> Iterator[tuple[list[str], int]]:
    """Iterate over the domains of a slice. A domain that occurs several times is returned once, with all its pods."""
    counts = part["podCounts"].get("individual")
    if _is_one_domain(part):
        pods = part["podCounts"]["universal"] * part["domainCount"] if counts is None else sum(counts)
        yield [values["universal"] for values in part["valuesPerLevel"]], pods
        return
    counts = counts or [part["podCounts"]["universal"]] * part["domainCount"]
    columns = []
    for values in part["valuesPerLevel"]:
        each = values.get("individual")
        if each is None:
            columns.append([values["universal"]] * part["domainCount"])
        else:
            columns.append([f"{each.get('prefix') or ''}{r}{each.get('suffix') or ''}" for r in each["roots"]])
    for position, count in enumerate(counts):
        yield [column[position] for column in columns], count


def write(assignment: dict[str, Any]) -> dict[str, Any]:
    """Compress a topology assignment into slices: one, unless a slice has too many domains.

    Kueue writes hosts with a common prefix as a slice of their own where this is shorter.
    """
    domains = [(tuple(domain["values"]), domain["count"]) for domain in assignment.get("domains", ())]
    starts = range(0, len(domains), _MOST_IN_A_SLICE)
    slices = [_slice(domains[start : start + _MOST_IN_A_SLICE]) for start in starts]
    return {"levels": list(assignment["levels"]), "slices": slices}


def _slice(domains: Sequence[Domain]) -> dict[str, Any]:
    counts = [count for _, count in domains]
    return {
        "domainCount": len(domains),
        "valuesPerLevel": [_column(column) for column in zip(*(values for values, _ in domains), strict=True)],
        "podCounts": {"universal": counts[0]} if len(set(counts)) == 1 else {"individual": counts},
    }


def _column(values: Sequence[str]) -> dict[str, Any]:
    """Compress the values of one topology level.

    A common prefix and a common suffix are written only once; if they overlap, the prefix is shortened.
    """
    if len(set(values)) == 1:
        return {"universal": values[0]}
    prefix, suffix = _common(values), _common([value[::-1] for value in values])[::-1]
    shortest = min(map(len, values))
    prefix = prefix[: max(0, min(len(prefix), shortest - len(suffix)))]
    roots = [value[len(prefix) : len(value) - len(suffix)] for value in values]
    ends = {"prefix": prefix, "suffix": suffix}
    return {"individual": {**{name: end for name, end in ends.items() if end}, "roots": roots}}


def _common(values: Sequence[str]) -> str:
    """Return the common prefix of all values, computed from the smallest and the largest value."""
    low, high = min(values), max(values)
    return low[: next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))]
