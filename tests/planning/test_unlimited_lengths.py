"""Mobile bases whose files say 999999 for "no limit": a rotation before a length without limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import exact

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SHAPE = '<collision><origin xyz="{at} 0 0.2"/><geometry><box size="{size}"/></geometry></collision>'


def _mobile_base(folder: Path, limit: str) -> kd.Robot:
    """Return a cart that turns, drives and turns again, with an arm of 0.6 m."""
    links = {"ground": "", "heading": BODY, "rail": BODY, "cart": BODY + SHAPE.format(at=0, size="0.3 0.3 0.3")}
    links["arm"] = BODY + SHAPE.format(at=0.5, size="0.6 0.06 0.06")
    joints = [("turn", "revolute", "z", limit), ("drive", "prismatic", "x", limit), ("spin", "revolute", "z", limit)]
    joints += [("shoulder", "revolute", "z", "2")]
    text = "".join(f'<link name="{name}">{content}</link>' for name, content in links.items())
    for (name, kind, axis, most), parent, child in zip(joints, list(links), list(links)[1:], strict=False):
        xyz = "0 0 1" if axis == "z" else "1 0 0"
        text += (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="{xyz}"/>'
            f'<limit lower="-{most}" upper="{most}" velocity="1" effort="9"/></joint>'
        )
    file = folder / "cart.urdf"
    file.write_text(f'<robot name="cart">{text}</robot>')
    return kd.load(file)


@pytest.mark.parametrize("limit", ["999999", "1e20", "inf", "4"])
@pytest.mark.parametrize("planner", ["rrt_connect", "prm"])
def test_a_cart_drives_around_obstacles(tmp_path: Path, limit: str, planner: str) -> None:
    robot = _mobile_base(tmp_path, limit)
    world = kd.collision.World()
    for k, y in enumerate((-0.8, 0.0, 0.8)):
        world.add_box(f"pillar{k}", (0.2, 0.3, 1.0), kd.spatial.pose([1.5, y, 0.5]))
    start, goal = np.array([0.0, 0.3, 0.0, 0.5]), np.array([0.1, 2.6, 0.3, -0.5])
    found = kd.planning.plan(robot, start, goal, world, planner=planner, time_budget=20.0)
    assert found.success, found.message
    dense = np.concatenate(
        [robot.interpolate(a, b, np.linspace(0, 1, 200)) for a, b in zip(found.path[:-1], found.path[1:], strict=True)]
    )
    if exact.is_available():
        assert kd.collision.free(robot, dense, world, exact=True).all()
    assert np.abs(found.path[:, 1]).max() < 8.0  # it does not drive far away


def test_samples_of_a_length_without_limits_are_near_zero(tmp_path: Path) -> None:
    q = _mobile_base(tmp_path, "999999").random(100, seed=0)
    assert np.abs(q[:, 1]).max() <= 1.0
    assert np.abs(q[:, [0, 2]]).max() <= np.pi
    assert np.abs(_mobile_base(tmp_path, "40").random(100, seed=0)[:, 1]).max() > 1.0
