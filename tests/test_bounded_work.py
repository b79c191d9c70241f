"""Numbers that ask for work or memory without end raise `InputError` at once; nothing is begun."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError

MANY = 10**12
PANDA = kd.load("panda")
REVERSING = kd.trajectory.cubic_spline([[0.0], [1.0], [0.0]], [0.0, 0.5, 1.0])
LINE = kd.trajectory.cartesian.line(
    np.eye(4), kd.spatial.pose([0.1, 0.0, 0.0], np.eye(3)), duration=1.0, law="minimum_jerk"
)
FAR = {"panda_link8": kd.spatial.pose([5.0, 0.0, 0.0], np.eye(3))}
EXCITING = kd.identification.exciting_trajectory(kd.load("planar2r"), harmonics=3, starts=1, iterations=1)

CALLS: dict[str, Callable[[], object]] = {
    "configurations": lambda: PANDA.random(MANY),
    "configurations that no memory could address": lambda: PANDA.random(10**400),
    "configurations of two axes": lambda: PANDA.random((10**6, 10**6)),
    "restarts": lambda: kd.ik.solve(PANDA, FAR, restarts=10**6),
    "grid": lambda: kd.trajectory.time_optimal(REVERSING, velocity=[1.0], acceleration=[1.0], grid=10**6),
    "sweeps": lambda: kd.trajectory.jerk_limited_waypoints(
        [[0.0], [1.0]], velocity=[1.0], acceleration=[1.0], jerk=[1.0], sweeps=MANY
    ),
    "sides": lambda: kd.contact.friction.pyramid(0.5, sides=MANY),
    "samples": lambda: LINE.follow(PANDA, "panda_link8", samples=MANY),
    "times": lambda: EXCITING.times(1e3, periods=MANY),
    "horizon": lambda: kd.walking.MPC(samples=MANY),
    "movable footsteps": lambda: kd.walking.MPC(movable=MANY),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_work_without_end_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="at most|from [0-9]+ to"):
        call()


@pytest.mark.parametrize("height", [1e-300, 1e-4, 1e4, 1e300])
def test_heights_that_are_not_of_a_body_are_refused(height: float) -> None:
    with pytest.raises(InputError, match="height must be from"):
        kd.load("humanoid", height=height)


def test_times_of_markers_that_would_be_sampled_without_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "markers.csv"
    path.write_text("time,a.x,a.y,a.z\n" + "".join(f"{t},0,0,0\n" for t in (0, 1e-9, 2e-9, 3e-9, 1e9)))
    with pytest.raises(InputError, match="too many"):
        kd.retarget.retarget(path, kd.load("humanoid"))


def test_a_clip_of_centuries_is_refused(tmp_path: Path) -> None:
    clip = kd.retarget.example_motion()
    slow = kd.retarget.Motion(clip.names, clip.parents, clip.positions, 1e-9)
    with pytest.raises(InputError, match="frames at"):
        kd.retarget.retarget(slow, kd.load("humanoid"))
