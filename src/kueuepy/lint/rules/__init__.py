"""The rules, in the order of their ids."""

from kueuepy.lint.rule import Rule
from kueuepy.lint.rules import (
    devices,
    flavors,
    limits,
    preemption,
    queueing,
    references,
    sharing,
    topologies,
    versions,
    workloads,
)

_FILES = (
    devices,
    flavors,
    limits,
    preemption,
    queueing,
    references,
    sharing,
    topologies,
    versions,
    workloads,
)
_FOUND = [found for file in _FILES for found in vars(file).values() if isinstance(found, Rule)]
RULES: tuple[Rule, ...] = tuple(sorted(_FOUND, key=lambda rule: int(rule.id[1:])))
"""All rules, ordered by id from L1 on. Ids never change; a new rule gets the next id."""
