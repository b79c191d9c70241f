"""Legs that cannot walk are refused with what they lack, in the order in which a user would look for it."""

from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.model.robot import Robot


def with_knees(**changes: object) -> Robot:
    """Return the humanoid with other joints in the place of its knees."""
    description = kd.load("humanoid").description
    joints = tuple(replace(j, **changes) if j.name.endswith("knee") else j for j in description.joints)  # type: ignore[arg-type]
    return Robot(replace(description, joints=joints, configurations={}))


def test_knees_without_range_are_named() -> None:
    """As in files whose angles are in radians, but read in degrees."""
    with pytest.raises(kd.KinodynError, match=r"cannot bend: joint 'left_knee'.* moves by 2 degrees .* degrees or rad"):
        kd.walking.Biped.from_robot(with_knees(lower=0.0, upper=np.deg2rad(2.0)))


def test_a_little_range_is_enough_and_knees_may_be_continuous() -> None:
    """A leg that bends by 30 degrees is shortened by 3 %."""
    assert kd.walking.Biped.from_robot(with_knees(lower=0.0, upper=np.deg2rad(30.0))).hip_height > 0.7
    free = with_knees(kind="continuous", lower=-np.inf, upper=np.inf)
    assert kd.walking.Biped.from_robot(free).leg == pytest.approx(kd.walking.Biped.from_robot(with_knees()).leg)


def test_welded_knees_are_refused_with_the_joints_that_a_leg_needs() -> None:
    welded = with_knees(kind="fixed", axis=np.array([0.0, 0.0, 1.0]), lower=-np.inf, upper=np.inf, effort=np.inf)
    with pytest.raises(kd.KinodynError, match="cannot bend|hip, knee and ankle must each have a joint"):
        kd.walking.Biped.from_robot(welded)


@pytest.mark.parametrize("gravity", [(0.0, -9.81, 0.0), (0.0, 0.0, 9.81), (0.0, 0.0, 0.0)])
def test_gravity_that_is_not_along_minus_z_is_refused(gravity: tuple[float, float, float]) -> None:
    with pytest.raises(kd.InputError, match=r"gravity of 'humanoid' must be along -z .*robot\.replace"):
        kd.walking.Biped.from_robot(kd.load("humanoid").replace(gravity=gravity))
