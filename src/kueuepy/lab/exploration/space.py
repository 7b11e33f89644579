"""The policies of a sweep: all combinations, a list, or a random sample."""

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
"""The default maximum number of simulations of a sweep."""


@checked_methods
class Uniform(msgspec.Struct, frozen=True):
    """A uniform distribution between two numbers.

    Attributes:
        low: The smallest number.
        high: The largest number.
        step: The distance between allowed numbers, which start at `low`. Default: all numbers are allowed.
        log: Whether the logarithm is uniformly distributed; `low` must then be greater than 0. Default: False.

    Example:
        >>> Uniform(0, 64, step=16).at(0.5)
        32
    """

    low: float
    high: float
    step: float | None = None
    log: bool = False

    @checked_fields
    def __post_init__(self) -> None:
        """Validate the bounds.

        Raises:
            InvalidSpecError: `low` exceeds `high`, a bound is not finite, `step` is not greater than 0, or `log` is set
                and `low` is not greater than 0.
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
        """Return a quantile of the distribution.

        Args:
            u: The quantile, in the interval [0, 1).
        """
        if self.log:
            value = float(self.low * (self.high / self.low) ** u)
            return value if self.step is None else self.low + self.step * round((value - self.low) / self.step)
        if self.step is None:
            return self.low + u * (self.high - self.low)
        return self.low + self.step * math.floor(u * (math.floor((self.high - self.low) / self.step) + 1))


_DIGITS = 1 << 30
"""The number of distinct fractions to which the points of the Sobol sequence are rounded."""

Space = Mapping[str, "Uniform | Sequence[Any]"]
"""For each path, a range or a list of equally likely values."""


@checked
def sample(
    space: Space, n: int, *, seed: int = 0, how: Literal["sobol", "random"] = "sobol"
) -> tuple[dict[str, Any], ...]:
    """Draw policies from a space.

    `random` draws the values of each path independently. `sobol` takes the first `n` points of the Sobol sequence with
    a random digital shift per path, which covers the space more evenly. Each sampling method gives the same policies
    for the same seed on every platform.

    Args:
        space: For each path, a `Uniform` range or a list of values.
        n: The number of policies.
        seed: The seed. Default: 0.
        how: `sobol`, which requires scipy, or `random`. Default: `sobol`.

    Returns:
        The policies, each a dict of values by path.

    Raises:
        InvalidSpecError: The space or a list of values is empty, or `n` is less than 1.
        UnsupportedError: `how` is `sobol`, and scipy is not installed.

    Example:
        >>> sample({"ClusterQueue/a:queueingStrategy": ["StrictFIFO", "BestEffortFIFO"]}, 2, how="random")
        ({'ClusterQueue/a:queueingStrategy': 'StrictFIFO'}, {'ClusterQueue/a:queueingStrategy': 'StrictFIFO'})
    """
    if not space or n < 1 or not all(isinstance(v, Uniform) or _is_list(v) for v in space.values()):
        raise InvalidSpecError(f"sample: {n} of {dict(space)}; give n > 0, and for each path a Uniform or values")
    if how not in ("sobol", "random"):
        raise InvalidSpecError(f"sample: how {how!r}; it must be sobol or random")
    parts = np.column_stack([draws(seed, path, n) for path in space])
    if how == "sobol":
        # A digital shift (exclusive or) preserves the sequence's even distribution over boxes.
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
    # The sequence is balanced for powers of two only; scipy warns about other numbers.
    points: NDArray[np.float64] = qmc.Sobol(dimensions, scramble=False).random_base2(math.ceil(math.log2(n)))
    return points[:n]


def _value(values: Uniform | Sequence[Any], u: float) -> Any:
    return values.at(u) if isinstance(values, Uniform) else values[math.floor(u * len(values))]


def policies_of(over: Any) -> tuple[dict[str, Any], ...]:
    """Return the policies of a sweep; a dict stands for all combinations, and the last path varies fastest.

    Raises:
        InvalidSpecError: The argument is neither a dict of lists nor a list of policies, or a path has no values.

    Example:
        >>> [tuple(policy.values()) for policy in policies_of({"a": [1, 2], "b": [3, 4]})]
        [(1, 3), (1, 4), (2, 3), (2, 4)]
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
