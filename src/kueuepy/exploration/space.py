"""Which policies are tried: all combinations, a list, or a sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked, checked_fields, checked_methods
from kueuepy.errors.libraries import imported
from kueuepy.simulation.distributions import draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 10_000
"""How many runs a sweep has at most unless more are asked for."""


@checked_methods
class Uniform(msgspec.Struct, frozen=True):
    """Numbers from `low` to `high`, each as likely.

    >>> Uniform(0, 64, step=16).at(0.5)
    32

    Attributes:
        low: The least.
        high: The largest.
        step: With it only `low`, `low + step` and so on, up to `high`.
        log: Each order of magnitude is as likely; `low` must be more than 0.
    """

    low: float
    high: float
    step: float | None = None
    log: bool = False

    @checked_fields
    def __post_init__(self) -> None:
        """Finds bounds that are none.

        Raises:
            InvalidSpecError: They are not in order, or a step or `log` does not fit them.
        """
        if (
            not -math.inf < self.low <= self.high < math.inf
            or (self.step is not None and not self.step > 0)
            or (self.log and not self.low > 0)
        ):
            raise InvalidSpecError(
                f"Uniform: {self.low} to {self.high}, step {self.step}; low must be at most high, both finite, a step "
                f"more than 0, and low more than 0 for log"
            )

    def at(self, u: float) -> float:
        """The number at this part, from 0 to below 1, of the range."""
        if self.log:
            value = float(self.low * (self.high / self.low) ** u)
            return value if self.step is None else self.low + self.step * round((value - self.low) / self.step)
        if self.step is None:
            return self.low + u * (self.high - self.low)
        return self.low + self.step * math.floor(u * (math.floor((self.high - self.low) / self.step) + 1))


_DIGITS = 1 << 30
"""Of the points of the sequence, as a fraction."""

Space = Mapping[str, "Uniform | Sequence[Any]"]
"""By path a range, or a list of values that are each as likely."""


@checked
def sample(
    space: Space, n: int, *, seed: int = 0, how: Literal["sobol", "random"] = "sobol"
) -> tuple[dict[str, Any], ...]:
    """Policies that are spread over a space.

    `random` draws each path's part of its range from a stream of its own. `sobol` takes the first n points of the Sobol
    sequence, whose digits are shifted by one draw a path; they cover the space more evenly. Both give the same for the
    same seed, on every platform.

    >>> sample({"ClusterQueue/a:queueingStrategy": ["StrictFIFO", "BestEffortFIFO"]}, 2, how="random")
    ({'ClusterQueue/a:queueingStrategy': 'StrictFIFO'}, {'ClusterQueue/a:queueingStrategy': 'StrictFIFO'})

    Args:
        space: By path a `Uniform`, or a list of values.
        n: How many.
        seed: The seed.
        how: `sobol`, which needs scipy, or `random`.

    Raises:
        InvalidSpecError: The space or n is empty.
        UnsupportedError: scipy is not installed, and `sobol` was asked for.
    """
    if not space or n < 1 or not all(isinstance(v, Uniform) or _is_list(v) for v in space.values()):
        raise InvalidSpecError(f"sample: {n} of {dict(space)}; give n > 0, and for each path a Uniform or values")
    if how not in ("sobol", "random"):
        raise InvalidSpecError(f"sample: how {how!r}; it must be sobol or random")
    parts = np.column_stack([draws(seed, path, n) for path in space])
    if how == "sobol":
        # A shift of the digits: exclusive or, which keeps what the sequence promises of each box.
        shifts = [draws(seed, f"shift {path}", 1)[0] for path in space]
        parts = (
            (_sobol(len(space), n) * _DIGITS).astype(np.int64) ^ (np.array(shifts) * _DIGITS).astype(np.int64)
        ) / _DIGITS
    return tuple(
        {path: _value(values, u) for (path, values), u in zip(space.items(), row, strict=True)}
        for row in parts.tolist()
    )


def _is_list(values: Any) -> bool:
    return not isinstance(values, str | bytes) and len(values) > 0


def _sobol(dimensions: int, n: int) -> NDArray[np.float64]:
    qmc = imported("scipy.stats.qmc", 'sample: how "sobol"', 'scipy, or sample with how="random"')
    # A power of two, of which the sequence is balanced; scipy warns of others.
    points: NDArray[np.float64] = qmc.Sobol(dimensions, scramble=False).random_base2(math.ceil(math.log2(n)))
    return points[:n]


def _value(values: Uniform | Sequence[Any], u: float) -> Any:
    return values.at(u) if isinstance(values, Uniform) else values[math.floor(u * len(values))]


def policies_of(over: Any) -> tuple[dict[str, Any], ...]:
    """The policies of what a sweep is asked for: a dict stands for all combinations, the last path's values fastest.

    >>> [tuple(policy.values()) for policy in policies_of({"a": [1, 2], "b": [3, 4]})]
    [(1, 3), (1, 4), (2, 3), (2, 4)]

    Raises:
        InvalidSpecError: It is neither, or a path has no values.
    """
    if isinstance(over, Mapping):
        for path, values in over.items():
            if isinstance(values, Uniform):
                raise InvalidSpecError(f'over: "{path}": a Uniform has no list of values; give kueuepy.lab.sample(...)')
            if isinstance(values, str | bytes) or not isinstance(values, Iterable) or not list(values):
                raise InvalidSpecError(f'over: "{path}": {values!r}; it must be a list of one value or more')
        return tuple(dict(zip(over, chosen, strict=True)) for chosen in product(*map(list, over.values())))
    found = tuple(over) if isinstance(over, Iterable) and not isinstance(over, str | bytes) else (over,)
    for place, policy in enumerate(found):
        if not isinstance(policy, Mapping):
            raise InvalidSpecError(f"over: policy {place} is {policy!r}; it must be values by path")
    return tuple(map(dict, found))
