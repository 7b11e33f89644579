"""The singular and plural of nouns and verbs, for texts that count things."""

from collections.abc import Sequence

_OF_ONE = {"have": "has", "are": "is"}


def plural(count: int, noun: str) -> str:
    """Return a noun in the singular or plural.

    >>> plural(1, "Topology"), plural(2, "Topology"), plural(2, "RuntimeClass"), plural(0, "job")
    ('Topology', 'Topologies', 'RuntimeClasses', 'jobs')
    """
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun.endswith('s') else 's'}"


def verb(count: int, does: str) -> str:
    """Return the form of a verb for a subject in the singular or plural.

    >>> verb(1, "wait"), verb(2, "wait"), verb(1, "have"), verb(1, "are")
    ('waits', 'wait', 'has', 'is')
    """
    return does if count != 1 else _OF_ONE.get(does, f"{does}s")


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "cycle"), counted(2_000, "policy")
    ('1 cycle', '2000 policies')
    """
    return f"{count} {plural(count, noun)}"


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first names of a list, and the number of the others.

    >>> first_of(["a", "b", "c"], 2), first_of(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
