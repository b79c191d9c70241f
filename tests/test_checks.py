"""Checks of arguments: every number of an array counts, however many there are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.checks import MANY, MAX_MAGNITUDE, integer, nonnegative, number, numbers, positive


@pytest.mark.parametrize("count", [2, MANY])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1.1 * MAX_MAGNITUDE, -1.1 * MAX_MAGNITUDE])
def test_one_wrong_number_among_any_count_is_an_error(count: int, wrong: float) -> None:
    array = np.full((count, 3), 0.9 * MAX_MAGNITUDE)
    np.testing.assert_array_equal(numbers("x", array, 3), array)
    array[-1, 1] = wrong
    with pytest.raises(kd.InputError, match="x must be finite"):
        numbers("x", array, 3)


def test_an_integer_without_a_repr_is_an_error_of_kinodyn() -> None:
    for check in (number, integer, numbers):
        with pytest.raises(kd.InputError, match="x must be .*, got int of too many digits"):
            check("x", 10**5000, 1, 2) if check is integer else check("x", 10**5000)  # type: ignore[operator]


@pytest.mark.parametrize("check", [positive, nonnegative])
def test_a_number_that_is_too_large_is_told_so(check: Callable[[str, float], float]) -> None:
    with pytest.raises(kd.InputError, match=r"number, at most 1e\+60, got 1e\+300"):
        check("dt", 1e300)
    with pytest.raises(kd.InputError, match="number, got -1.0"):
        check("dt", -1.0)
