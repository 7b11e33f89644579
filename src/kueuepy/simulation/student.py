"""Quantiles of Student's t distribution, computed without a library."""

from __future__ import annotations

from statistics import NormalDist

_T = (
    *(12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139),
    *(2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963),
    *(2.079614, 2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272),
)
"""The 97.5th percentiles for 1 to 30 degrees of freedom."""
NORMAL = NormalDist().inv_cdf(0.975)
"""The 97.5th percentile of the normal distribution."""


def student(degrees: int) -> float:
    """Return the 97.5th percentile of Student's t distribution, from Fisher's expansion above 30 degrees of freedom.

    >>> round(student(4), 3), round(student(100), 3)
    (2.776, 1.984)
    """
    if degrees <= len(_T):
        return _T[degrees - 1]
    z = NORMAL
    terms = (z**3 + z, 5 * z**5 + 16 * z**3 + 3 * z, 3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z)
    return z + terms[0] / (4 * degrees) + terms[1] / (96 * degrees**2) + terms[2] / (384 * degrees**3)
