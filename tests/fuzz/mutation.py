"""Random malformed manifests. The same seed generates the same strings."""

from __future__ import annotations

import random
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SAMPLES: Final[tuple[str, ...]] = tuple(
    dedent(text)
    for text in (
        """\
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata:
          name: vision
          labels: {team: "a", tier: gold}
        spec:
          cohortName: org # shared
          queueingStrategy: BestEffortFIFO
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: ["cpu", memory]
            flavors:
            - name: h100
              resources:
              - name: cpu
                nominalQuota: 8
                borrowingLimit: 1.5
              - name: "memory"
                nominalQuota: 36Gi
          preemption:
            borrowWithinCohort:
              policy: LowerPriority
              maxPriorityThreshold: 100
        """,
        """\
        apiVersion: v1
        items:
        - apiVersion: kueue.x-k8s.io/v1beta2
          kind: Workload
          metadata:
            annotations:
              note: |
                first line
                  - second: line

                last
              folded: >-
                one
                two
            creationTimestamp: "2026-01-31T10:00:03Z"
            name: w-1
            namespace: default
          spec:
            active: true
            podSets:
            - count: 2
              name: main
              template:
                spec:
                  containers:
                  - args:
                    - -c
                    - 'echo "it''s"; sleep 1'
                    - "a\\tb \\
                      c"
                    image: registry.k8s.io/pause:3.9
                    resources:
                      requests:
                        cpu: 500m
                  restartPolicy: Never
            priority: -5
        - kind: LocalQueue
          spec: {}
        kind: List
        metadata:
          resourceVersion: ""
        """,
        """\
        base: &base
          cpu: 1
          memory: 0x10
        one:
          <<: *base
          on: off
        two: {<<: [*base, {disk: ~}], "cpu": no, 12: 017}
        list: &list [a, 'b', "c", {d: e}, [&x 1_000, *x]]
        again: *list
        ? long key
        : - - nested
            - .5
          - 1e3
        text: several
          words on

          some lines
        empty:
        null: x
        """,
        """\
        {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Cohort", "metadata": {"name": "a"}},
         {"spec": {"fairSharing": {"weight": 1.50}, "on": true, "off": null}, "n": [-1, 2e3, "\\u00e9"]}]}
        """,
    )
)
"""Manifests that use every feature of YAML."""

PIECES: Final[tuple[str, ...]] = (
    *("- ", "-", "? ", "?", ": ", ":", ",", "[", "]", "{", "}", "[]", "{}", "&a ", "*a", "<<: ", "<<"),
    *(
        "'",
        '"',
        "''",
        '\\"',
        "\\",
        "\\/",
        "|",
        ">",
        "|-",
        "|+",
        ">-",
        "|2",
        "#",
        " #",
        "!",
        "!!str ",
        "!!int ",
        "!x ",
        "%",
        "@",
        "`",
    ),
    *(
        "\n",
        "\n\n",
        "\n  ",
        "\n- ",
        "\r\n",
        "\t",
        " ",
        "  ",
        "---",
        "---\n",
        "...\n",
        "\u00e9",
        "\u2028",
        "\x85",
        "\t",
        " \t",
        "\t#",
    ),
    *("~", "null", "yes", "n", "On", "0", "-0", "017", "08", "0x1F", "0b11", "0o7", "1_000", "1.5", "1e3", ".5", "5."),
    *("+1", "-1", ".inf", "-.INF", ".nan", "1e999", "18446744073709551616", "9223372036854775808", "2026-01-31"),
    *("a: b", "a", "items:", "kind: List", "podSets:", "template:", "k: v\n", "x y", "a:b", "a#b", "64Gi", "=", "<"),
)
"""The pieces of text that are inserted."""


JUNK: Final[list[Any]] = [
    None,
    [],
    {},
    "",
    "x",
    0,
    -1,
    1.5,
    True,
    2**63,
    -(2**63) - 1,
    2**200,
    float("nan"),
    float("inf"),
    [None],
    [[]],
    [{}],
    ["a", "a"],
    {"": None},
    {"a": {}},
    {1: 2},
    "\ud800",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:60Z",
    "1e400",
]
"""Values to put in the place of others."""


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all parts of a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for step, part in inner for found in places(part, (*path, step)))]


class Mutator:
    """A generator of strings that resemble manifests: parts of the samples with changed characters and lines.

    Attributes:
        samples: The strings to start from.

    Example:
        >>> Mutator(seed=1).text() == Mutator(seed=1).text()
        True
    """

    def __init__(self, seed: int, samples: Sequence[str] = SAMPLES) -> None:
        """Create the generator.

        Args:
            seed: The seed that determines all strings.
            samples: The strings to start from. Default: `SAMPLES`.
        """
        self.samples = tuple(samples)
        self._random = random.Random(seed)  # noqa: S311
        self._edits: tuple[Callable[[str], str], ...] = (
            *[self._insert] * 4,
            *[self._replace] * 3,
            *[self._remove] * 2,
            self._indent,
            self._move_line,
            self._join_lines,
            self._splice,
        )

    def text(self) -> str:
        """Return the next string."""
        text = self._part(self._random.choice(self.samples))
        for _ in range(self._random.choice((1, 1, 1, 2, 2, 3, 5))):
            text = self._random.choice(self._edits)(text)
        return text

    def _part(self, text: str) -> str:
        """Return the whole string, or a few of its lines without their common indentation."""
        lines = text.splitlines(keepends=True)
        if self._random.random() < _WHOLE:
            return text
        start = self._random.randrange(len(lines))
        return dedent("".join(lines[start : start + self._random.randint(1, 8)]))

    def _place(self, text: str) -> int:
        return self._random.randint(0, len(text))

    def _insert(self, text: str) -> str:
        place = self._place(text)
        return text[:place] + self._random.choice(PIECES) + text[place:]

    def _remove(self, text: str) -> str:
        place = self._place(text)
        return text[:place] + text[place + self._random.choice((1, 1, 2, 5)) :]

    def _replace(self, text: str) -> str:
        place = self._place(text)
        end = place
        while end < len(text) and text[end].isalnum():
            end += 1
        return text[:place] + self._random.choice(PIECES) + text[end:]

    def _indent(self, text: str) -> str:
        """Change the indentation of a line, and sometimes of the following lines."""
        lines = text.split("\n")
        start = self._random.randrange(len(lines))
        by = self._random.choice((-2, -1, 1, 2))
        for number in range(start, min(len(lines), start + self._random.randint(1, 3))):
            line = lines[number]
            lines[number] = " " * by + line if by > 0 else line[min(-by, len(line) - len(line.lstrip(" "))) :]
        return "\n".join(lines)

    def _move_line(self, text: str) -> str:
        lines = text.split("\n")
        line = self._random.choice(lines)
        if self._random.random() < _HALF:
            lines.remove(line)
        lines.insert(self._random.randint(0, len(lines)), line)
        return "\n".join(lines)

    def _join_lines(self, text: str) -> str:
        place = text.find("\n", self._place(text))
        return text if place < 0 else text[:place] + self._random.choice(("", " ", "\r\n", " \n")) + text[place + 1 :]

    def _splice(self, text: str) -> str:
        place = self._place(text)
        return text[:place] + self._part(self._random.choice(self.samples)) + text[place:]


_WHOLE = 0.1
_HALF = 0.5
