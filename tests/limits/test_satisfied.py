"""Whether configurations satisfy limits, within a tolerance."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.limits import CollisionLimit, ComLimit, Limit, PositionLimit, VelocityLimit
from kinodyn.limits.limit import RowLimit

PANDA = kd.load("panda")
HUMANOID = kd.load("humanoid")
STANDING = HUMANOID.configuration("standing")


def test_positions_may_be_beyond_their_limits_by_the_tolerance() -> None:
    inside = 0.5 * (PANDA.limits.lower + PANDA.limits.upper)
    below, above = inside.copy(), inside.copy()
    below[1], above[3] = PANDA.limits.lower[1] - 0.01, PANDA.limits.upper[3] + 0.01
    q = np.stack([inside, below, above])
    limit = PositionLimit()
    assert limit.satisfied(PANDA, q, 0.0).tolist() == [True, False, False]
    assert limit.satisfied(PANDA, q, 0.009).tolist() == [True, False, False]
    assert limit.satisfied(PANDA, q, 0.011).all()
    assert PositionLimit(0.02).satisfied(PANDA, q, 0.011).tolist() == [True, False, False]


def test_the_centre_of_mass_may_be_outside_by_the_tolerance() -> None:
    centre = kd.kinematics.com(HUMANOID, STANDING)[:2]
    corners = centre + 0.1 * np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) + [0.11, 0.0]
    limit = ComLimit(corners)
    assert not limit.satisfied(HUMANOID, STANDING, 0.009)
    assert limit.satisfied(HUMANOID, STANDING, 0.011)


@pytest.mark.parametrize("limit", [ComLimit([[5, 5], [5, 6], [6, 5]]), CollisionLimit(margin=0.5)])
def test_a_disabled_limit_is_satisfied_by_each_configuration(limit: RowLimit) -> None:
    assert limit.satisfied(HUMANOID, [STANDING] * 3, 0.0).tolist() == [False] * 3
    limit.enabled = False
    assert limit.satisfied(HUMANOID, [STANDING] * 3, 0.0).tolist() == [True] * 3


@pytest.mark.parametrize("limit", [PositionLimit(), VelocityLimit(), ComLimit([[5, 5], [5, 6], [6, 5]])])
def test_bad_configurations_and_tolerances_are_refused(limit: Limit) -> None:
    with pytest.raises(kd.InputError, match="q must"):
        limit.satisfied(HUMANOID, np.zeros((2, 5)), 0.0)
    for tolerance in (-1.0, np.nan):
        with pytest.raises(kd.InputError, match="tolerance must be a nonnegative number"):
            limit.satisfied(HUMANOID, STANDING, tolerance)
