"""Robots for the tests of conversions."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from kinodyn.arrays import Array
from kinodyn.description.base import with_base
from kinodyn.description.mjcf import parse_mjcf
from kinodyn.description.urdf import parse_urdf
from kinodyn.model.convert import DrakeJoint, DrakeLayout
from kinodyn.model.robot import Robot


def urdf_joint(name: str, kind: str, parent: str, child: str, more: str = "", axis: str = "0 0 1") -> str:
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
    <origin xyz="0.1 -0.2 0.3" rpy="0.3 0.2 -0.5"/><axis xyz="{axis}"/>
    <limit lower="-9" upper="9" effort="1" velocity="1"/>{more}</joint>"""


def urdf_link(name: str) -> str:
    return f"""<link name="{name}"><inertial><origin xyz="0.05 0.02 -0.1" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial></link>"""


# Siblings in reverse alphabetical order, continuous and planar joints, mimics of a prismatic and a continuous joint.
URDF = f"""<robot name="r"><link name="world"/>{"".join(urdf_link(n) for n in "abcdefgh")}
<joint name="root_joint" type="floating"><parent link="world"/><child link="a"/></joint>
{urdf_joint("z_turn", "continuous", "a", "b", axis="0 1 0")}
{urdf_joint("y_bend", "revolute", "b", "c", axis="1 2 3")}
{urdf_joint("x_lift", "prismatic", "c", "d", axis="1 0 -1")}
{urdf_joint("deck", "planar", "a", "e")}
{urdf_joint("q_turn", "continuous", "e", "f", axis="1 0 0")}
{urdf_joint("r_follow", "continuous", "f", "g", '<mimic joint="q_turn" multiplier="-2" offset="0.3"/>', axis="0 1 0")}
{urdf_joint("s_follow", "prismatic", "d", "h", '<mimic joint="y_bend" multiplier="0.5" offset="-0.1"/>')}
</robot>"""


MJCF = """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint name="root"/>
<inertial pos="0.1 0 0" mass="2" fullinertia="0.02 0.03 0.04 0.001 -0.002 0.003"/>
<body name="b" pos="0.1 0.2 0.3" quat="0.8 0 0.6 0"><joint name="ball" type="ball"/>
<inertial pos="0 0.1 0" mass="1" diaginertia="0.02 0.03 0.04"/>
<body name="c" pos="0.2 0 0"><joint name="slide" type="slide" axis="0 0.6 0.8"/>
<inertial pos="0 0.1 0" mass="1" diaginertia="0.02 0.03 0.04"/>
<body name="d" pos="0.2 0 0"><joint name="hinge" axis="0 0.6 0.8" range="-170 170"/>
<inertial pos="0 0.1 0.2" mass="1" diaginertia="0.02 0.03 0.04"/></body></body></body></body></worldbody></mujoco>"""


ROBOT = Robot(with_base(parse_urdf(URDF)))


BALL_ROBOT = Robot(with_base(parse_mjcf(MJCF)))


def random_state(robot: Robot, seed: int, batch: tuple[int, ...] = ()) -> tuple[Array, Array, Array, Array]:
    """Draw q, v, a, tau."""
    v, a, tau = np.random.default_rng(seed).normal(size=(3, *batch, robot.nv))
    return robot.random(batch, seed=seed), v, a, tau


def urdf_robot(joints: str, links: str, base: str = "fixed") -> Robot:
    return Robot(with_base(parse_urdf(f'<robot name="r">{"".join(map(urdf_link, links))}{joints}</robot>'), base))


seeds = st.integers(0, 10_000)


ONE_HINGE = urdf_robot(urdf_joint("h", "revolute", "a", "b"), links="ab")


def drake_layout(robot: Robot) -> DrakeLayout:
    """Lay the joints out backwards, with followers as joints of their own."""
    types = {"floating": "quaternion_floating", "ball": "ball_rpy", "prismatic": "prismatic", "planar": "planar"}
    joints, nq, nv = {}, 0, 0
    for joint in reversed(robot.joints):
        kind = types.get(joint.kind, "revolute")
        joints[joint.name] = DrakeJoint(nq, nv, kind)
        wide_q, wide_v = {"quaternion_floating": (7, 6), "ball_rpy": (3, 3), "planar": (3, 3)}.get(kind, (1, 1))
        nq, nv = nq + wide_q, nv + wide_v
    return DrakeLayout(joints, nq, nv)
