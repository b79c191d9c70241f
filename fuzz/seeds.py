"""Valid files of every kind that kinodyn reads, small ones, from which mutation starts."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

import kinodyn as kd

URDF = """<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"><visual><origin xyz="0 0 0.1" rpy="0 0 1"/>
    <geometry><box size="1 1 0.2"/></geometry></visual></link>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><cylinder radius="0.05" length="0.4"/></geometry></collision></link>
  <link name="finger"><inertial><mass value="0.5"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><geometry><mesh filename="m.stl" scale="1 1 1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.2" rpy="0 0 0"/><limit lower="-2" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="slide" type="prismatic"><parent link="upper"/><child link="finger"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.1" effort="5" velocity="1"/><mimic joint="shoulder" multiplier="0.1" offset="0"/></joint>
</robot>"""

MJCF = """<mujoco model="arm">
  <compiler angle="radian" meshdir="."/><option gravity="0 0 -9.81"/>
  <default><joint damping="0.1"/><default class="a"><geom rgba="1 0 0 1"/></default></default>
  <asset><mesh name="m" file="m.stl"/><hfield name="h" nrow="4" ncol="5" size="1 1 0.1 0.1"/></asset>
  <worldbody><geom type="plane" size="1 1 0.1"/><geom type="hfield" hfield="h"/>
    <body name="a" pos="0 0 1" quat="1 0 0 0"><freejoint name="free"/><geom class="a" size="0.1"/><site name="s"/>
      <body name="b" euler="0 0.5 0"><joint name="j" axis="0 1 0" range="-1 1"/><geom type="capsule" size="0.1 0.2"/>
        <replicate count="3" offset="0.1 0 0"><geom type="mesh" mesh="m" mass="0.1"/></replicate>
        <body name="c"><joint name="k" type="slide"/><geom type="box" size="0.1 0.1 0.1"/></body></body></body>
  </worldbody>
  <equality><joint joint1="k" joint2="j" polycoef="0 0.5 0 0 0"/></equality>
  <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
  <actuator><motor joint="j" ctrlrange="-5 5" gear="2"/><position tendon="t" kp="3"/></actuator>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.1 0.2"/></keyframe>
</mujoco>"""

SRDF = """<robot name="arm"><group name="all"><chain base_link="base" tip_link="finger"/></group>
  <group name="one"><joint name="shoulder"/></group>
  <group_state name="home" group="one"><joint name="shoulder" value="0.5"/></group_state>
  <end_effector name="hand" parent_link="finger" group="one"/>
  <virtual_joint name="v" type="fixed" parent_frame="world" child_link="base"/>
  <passive_joint name="slide"/><disable_collisions link1="base" link2="upper" reason="Adjacent"/></robot>"""

XACRO = """<?xml version="1.0"?>
<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="r" value="0.2"/>
<xacro:macro name="part" params="name"><link name="${name}"/></xacro:macro><xacro:part name="base"/>
<link name="tip"/><joint name="j" type="continuous">
<parent link="base"/><child link="tip"/><axis xyz="0 0 ${r*5}"/></joint>
</robot>"""

SCENE = """name: scene
robot_state: {joint_state: {name: [joint1, joint2], position: [0.1, 0.2]}}
world:
  collision_objects:
    - id: box
      header: {frame_id: base}
      pose: {position: [0.5, 0, 0.5], orientation: [0, 0, 0, 1]}
      primitives: [{type: box, dimensions: [0.1, 0.2, 0.3]}]
      primitive_poses: [{position: {x: 0, y: 0, z: 0}, orientation: {x: 0, y: 0, z: 0, w: 1}}]
    - id: ball
      primitives: [{type: sphere, dimensions: [0.1]}]
      primitive_poses: [{position: [1, 1, 1], orientation: [0, 0, 0, 1]}]
allowed_collision_matrix: {entry_names: [a, b], entry_values: [{enabled: [false, true]}, {enabled: [true, false]}]}
"""

BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 90 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT LeftUpLeg
  {
    OFFSET 10 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -40 0
    }
  }
  JOINT RightUpLeg
  {
    OFFSET -10 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -40 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0333
0 90 0 0 0 0 1 2 3 4 5 6
0 91 0 0 0 0 1 2 3 4 5 6
"""


def stl() -> bytes:
    """Return a tetrahedron as a binary STL file."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="<f4")
    rows = np.zeros(4, dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = corners[[(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]]
    return bytes(80) + len(rows).to_bytes(4, "little") + rows.tobytes()


def recording(suffix: str, folder: Path) -> bytes:
    """Return a short recording as a file."""
    path = folder / f"recording{suffix}"
    kd.sim.simulate(kd.load("planar2r"), None, 0.005).save(path)
    return path.read_bytes()


def measurements(suffix: str, folder: Path) -> bytes:
    """Return a table of measurements as a file."""
    path, n = folder / f"table{suffix}", 5
    joints = ("joint1", "joint2")
    columns = {f"{group}.{joint}": np.linspace(0.0, 1.0, n) for group in ("q", "tau") for joint in joints}
    kd.tables.write(path, {"time": np.arange(n) * 0.1, **columns})
    return path.read_bytes()


def glb() -> bytes:
    """Return a triangle as a GLB file."""
    import trimesh

    mesh = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    return bytes(mesh.export(file_type="glb"))


def image() -> bytes:
    """Return an image of heights."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.arange(16, dtype=np.uint8).reshape(4, 4)).save(stream, "PNG")
    return stream.getvalue()


Seed = Callable[[Path], bytes]
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1/1/1 3 4\nf 2 3 4\n"
REQUEST = json.dumps(
    {
        "group_name": "arm",
        "start_state": {"joint_state": {"name": ["joint1"], "position": [0.1]}},
        "goal_constraints": [{"joint_constraints": [{"joint_name": "joint2", "position": 0.5, "weight": 1.0}]}],
    }
)
