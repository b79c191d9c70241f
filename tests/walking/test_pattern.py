"""Walking patterns: dynamically consistent, ZMP within the feet, feasible for the joints."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.walking import Biped, Pattern, StepLimits, walking_pattern


def assert_sound(pattern: Pattern) -> None:
    w = pattern.body.omega
    np.testing.assert_allclose(pattern.zmp, pattern.com[:, :2] - pattern.com_acceleration[:, :2] / w**2, atol=1e-9)
    np.testing.assert_allclose(pattern.com_velocity[0], 0.0, atol=1e-6)
    assert pattern.margins().min() > 0.0
    still = pattern.contacts["left"] & pattern.contacts["right"]
    assert still[0] and still[-1] and not still.all()
    for side, T in pattern.soles.items():
        jump = np.abs(np.diff(T[:, :3, 3], axis=0)).max()
        fastest = np.abs(pattern.sole_velocities[side]).max()
        assert jump <= 1.01 * fastest * pattern.dt
        assert T[~pattern.contacts[side], 2, 3].min(initial=0.0) > -1e-9
        assert (T[pattern.contacts[side], 2, 3] == 0.0).all()


@pytest.mark.parametrize("method", ["dcm", "mpc", "preview"])
def test_each_method_makes_a_dynamically_consistent_pattern(body: Biped, limits: StepLimits, method: str) -> None:
    pattern = walking_pattern(body, velocity=[0.3, 0.0, 0.2], steps=5, limits=limits, method=method)  # type: ignore[arg-type]
    assert_sound(pattern)
    assert len(pattern.footsteps) == 6


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("humanoid", {"height": 1.2, "mass": 30.0}),
        ("humanoid", {"height": 1.9, "mass": 95.0}),
        ("talos", {}),
        ("g1", {}),
    ],
)
def test_patterns_are_feasible_for_robots_of_all_sizes(name: str, options: dict[str, float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name, **options)
    pattern = walking_pattern(robot, velocity=[0.3, 0.0, 0.1], steps=3)
    result = pattern.check(every=0.1)
    assert result.success, result.status
    feet = (pattern.body.left, pattern.body.right)
    picked = np.arange(0, len(pattern.time), round(0.1 / pattern.dt))
    for foot in feet:
        np.testing.assert_allclose(foot.sole_pose(robot, result.q), pattern.soles[foot.side][picked], atol=1e-3)
    np.testing.assert_allclose(kd.kinematics.com(robot, result.q), pattern.com[picked], atol=1e-3)


def test_a_goal_is_reached(body: Biped, limits: StepLimits) -> None:
    pattern = walking_pattern(body, goal=[0.8, 0.4, 1.0], limits=limits)
    assert_sound(pattern)
    np.testing.assert_allclose(pattern.com[-1, :2], [0.8, 0.4], atol=5e-3)
    assert pattern.heading[-1] == pytest.approx(1.0, abs=1e-6)


def test_infeasible_patterns_are_reported(body: Biped) -> None:
    limits = StepLimits.from_robot(body, check=False)
    wide = StepLimits(**{**vars(limits), "forward": 1.2, "oblique": 2.0})
    result = walking_pattern(body, velocity=[1.6, 0.0, 0.0], steps=2, limits=wide).check()
    assert not result.success and ("has an error of" in result.status or "velocity limit" in result.status)


def test_equal_commands_give_bit_identical_patterns(body: Biped, limits: StepLimits) -> None:
    one, two = (
        walking_pattern(body, velocity=[0.2, 0.05, 0.0], steps=3, limits=limits, method="mpc") for _ in range(2)
    )
    np.testing.assert_array_equal(one.com, two.com)
    np.testing.assert_array_equal(one.soles["left"], two.soles["left"])


def test_invalid_arguments_are_rejected(body: Biped, limits: StepLimits) -> None:
    with pytest.raises(kd.InputError, match="either velocity= or goal="):
        walking_pattern(body, limits=limits)
    with pytest.raises(kd.InputError, match="forward velocity 9 m/s is too fast"):
        walking_pattern(body, velocity=[9, 0, 0], limits=limits)
    with pytest.raises(kd.InputError, match="dt must be"):
        walking_pattern(body, velocity=[0.1, 0, 0], limits=limits, dt=1.0)
    with pytest.raises(kd.InputError, match="method must be"):
        walking_pattern(body, velocity=[0.1, 0, 0], limits=limits, method="zmp")  # type: ignore[arg-type]
    with pytest.raises(kd.KinodynError, match="no feet"):
        walking_pattern(kd.load("panda"), velocity=[0.1, 0, 0])
