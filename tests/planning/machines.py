"""A machine with every kind of joint that plans move: a planar base, a lift, two arms, a gripper that mimics."""

from __future__ import annotations

from pathlib import Path

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World
from kinodyn.model.robot import Robot


def _link(name: str, shape: str = '<sphere radius="0.04"/>', z: float = 0.0) -> str:
    return (
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" '
        f'iyz="0"/></inertial><collision><origin xyz="0 0 {z}"/><geometry>{shape}</geometry></collision></link>'
    )


def _joint(name: str, kind: str, parent: str, child: str, xyz: str, axis: str = "0 0 1", more: str = "") -> str:
    limit = (
        "" if kind in ("continuous", "planar", "fixed") else '<limit lower="-2.5" upper="2.5" velocity="1" effort="9"/>'
    )
    if kind == "prismatic":
        limit = '<limit lower="0" upper="0.6" velocity="1" effort="9"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        f'<axis xyz="{axis}"/>{limit}{more}</joint>'
    )


def _arm(side: str, y: float) -> str:
    bar = '<cylinder radius="0.04" length="0.26"/>'
    parts = [
        _joint(f"{side}_turn", "continuous", "column", f"{side}_upper", f"0 {y} 0.4", "0 0 1"),
        _link(f"{side}_upper", '<sphere radius="0.06"/>'),
        _joint(f"{side}_lift", "revolute", f"{side}_upper", f"{side}_fore", f"0 {0.1 if y > 0 else -0.1} 0", "0 1 0"),
        _link(f"{side}_fore", bar, 0.15),
        _joint(f"{side}_elbow", "revolute", f"{side}_fore", f"{side}_hand", "0 0 0.34", "0 1 0"),
        _link(f"{side}_hand", bar, 0.17),
        # the finger that follows comes before the one that it follows
        _joint(
            f"{side}_finger_b",
            "revolute",
            f"{side}_hand",
            f"{side}_b",
            "0.05 0 0.34",
            "0 1 0",
            f'<mimic joint="{side}_finger_z" multiplier="-1"/>',
        ),
        _link(f"{side}_b", '<sphere radius="0.015"/>', 0.02),
        _joint(f"{side}_finger_z", "revolute", f"{side}_hand", f"{side}_z", "-0.05 0 0.34", "0 1 0"),
        _link(f"{side}_z", '<sphere radius="0.015"/>', 0.02),
    ]
    return "".join(parts)


def machine(folder: Path) -> Robot:
    """Write the files of the machine and load it."""
    joints = (
        _link("world_link", '<sphere radius="0.001"/>', -5.0)
        + _joint("base", "planar", "world_link", "cart", "0 0 0.1")
        + _link("cart", '<cylinder radius="0.2" length="0.1"/>')
        + _joint("column", "prismatic", "cart", "column", "0 0 0.15")
        + _link("column", '<box size="0.1 0.1 0.1"/>')
        + _arm("left", 0.2)
        + _arm("right", -0.2)
    )
    (folder / "machine.urdf").write_text(f'<robot name="machine">{joints}</robot>')
    groups = "".join(
        f'<group name="{side}_arm"><chain base_link="column" tip_link="{side}_hand"/></group>'
        f'<group name="{side}_gripper"><joint name="{side}_finger_b"/><joint name="{side}_finger_z"/></group>'
        for side in ("left", "right")
    )
    both = '<group name="both_arms"><group name="left_arm"/><group name="right_arm"/></group>'
    tree = '<group name="tree"><joint name="base"/><joint name="column"/><group name="both_arms"/></group>'
    state = '<group_state name="bent" group="left_arm"><joint name="left_elbow" value="1.2"/></group_state>'
    (folder / "machine.srdf").write_text(f'<robot name="machine">{groups}{both}{tree}{state}</robot>')
    return kd.load(folder / "machine.urdf", srdf=folder / "machine.srdf")


def room_without_doors() -> World:
    """Return walls around the machine, which it cannot leave."""
    world = World()
    for name, x, y in (("east", 1.5, 0.0), ("west", -1.5, 0.0), ("north", 0.0, 1.5), ("south", 0.0, -1.5)):
        size = (0.1, 3.1, 4.0) if y == 0.0 else (3.1, 0.1, 4.0)
        world.add_box(name, size, ((x, y, 2.0), None))
    return world


def outside(robot: Robot) -> Array:
    """Return a configuration of the machine outside of the room."""
    q = robot.neutral()
    q[0] = 4.0
    return q
