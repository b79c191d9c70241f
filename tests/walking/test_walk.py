"""Robots walk in MuJoCo, moved by nothing but their torques."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError, KinodynError


def load(name: str) -> kd.Robot:
    if name.startswith("humanoid"):
        sizes = {"humanoid": {}, "humanoid, small": {"height": 1.2, "mass": 30}}[name]
        return kd.load("humanoid", **sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        return kd.load(name, base="floating")


@pytest.mark.parametrize("name", ["humanoid", "humanoid, small", "talos", "g1"])
def test_robots_that_nobody_tuned_walk_and_stop(name: str) -> None:
    robot = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)  # meshes that MuJoCo cannot read
        result = kd.walking.walk(robot, (0.2, 0.0, 0.0), duration=6.0)
    assert result.walked and result.fallen is None and result.recording.status == "complete"
    assert result.steps >= 5
    assert result.distance == pytest.approx(0.2 * 4.0, abs=0.25)
    assert result.torque <= 1.0 + 1e-9
    assert result.slip < 0.01
    assert np.abs(result.recording.v[-50:, :3]).max() < 0.05  # it stands in the end


def test_it_keeps_its_speed_turns_and_is_the_same_every_time() -> None:
    robot = kd.load("humanoid")
    first, second = (kd.walking.walk(robot, (0.3, 0.0, 0.1), duration=6.0) for _ in range(2))
    assert first.speed == pytest.approx(0.3, rel=0.1)
    x, y, z, w = first.recording.q[-1, 3:7]
    assert 2 * np.arctan2(z, w) == pytest.approx(0.1 * 4.0, abs=0.12)
    np.testing.assert_array_equal(first.recording.q, second.recording.q)


def test_a_push_too_strong_is_called_a_fall_and_the_recording_is_kept(tmp_path: Path) -> None:
    robot = kd.load("humanoid")
    push = kd.sim.Push("torso", [0.0, 3000.0, 0.0], start=1.0, duration=0.2)
    result = kd.walking.walk(robot, (0.0, 0.0, 0.0), duration=4.0, pushes=[push])
    assert not result.walked and result.fallen is not None and result.fallen > 1.0
    assert "fell after" in str(result)
    result.plot(tmp_path / "walk.png")
    assert (tmp_path / "walk.png").stat().st_size > 10_000


def test_who_cannot_walk_is_told_before_anything_moves() -> None:
    with pytest.raises(KinodynError):
        kd.walking.walk(kd.load("panda"))
    with pytest.raises(InputError, match="m/s"):
        kd.walking.walk(kd.load("humanoid"), (5.0, 0.0, 0.0))
    with pytest.raises(InputError, match="duration"):
        kd.walking.walk(kd.load("humanoid"), duration=1.0)
