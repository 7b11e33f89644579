"""The rules, in the order of their ids."""

from kueuepy.lint.rule import Rule
from kueuepy.lint.rules import (
    flavors,
    limits,
    preemption,
    queueing,
    references,
    sharing,
    topologies,
    unmodelled,
    versions,
    workloads,
)

RULES: tuple[Rule, ...] = (
    queueing.no_selector,
    limits.limit_without_cohort,
    preemption.borrower_is_victim,
    sharing.weights_without_preemption,
    sharing.borrow_within_cohort_ignored,
    preemption.nominal_not_ensured,
    workloads.requested_but_zero,
    sharing.memory_outweighs,
    flavors.taint_nobody_tolerates,
    flavors.same_labels,
    limits.limit_beyond_lendable,
    workloads.head_blocks_for_ever,
    workloads.fits_no_single_flavor,
    queueing.hold_while_borrowing,
    preemption.no_threshold,
    references.names_nothing,
    references.cohort_cycle,
    workloads.left_alone,
    queueing.too_many_checks,
    unmodelled.not_modelled,
    topologies.without_nodes,
    topologies.no_domain_holds_it,
    topologies.level_of_no_node,
    topologies.outside_of_its_topology,
    topologies.no_pods,
    topologies.no_topology_in_the_queue,
    topologies.with_and_without,
    topologies.beyond_the_last_slice,
    versions.meant_something_else,
)
"""All rules, L1 first. An id stays what it is; a new rule gets the next one."""
