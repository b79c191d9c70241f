"""Load robots: by name, from a URDF file, from Denavit-Hartenberg parameters.

--plot FILE draws the humanoid in three sizes.
"""

import argparse
import math
import tempfile
from pathlib import Path

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# By name. The proportions of the bundled humanoid come from a table of human body segments.
robot = kd.load("humanoid", height=1.75, mass=70.0)
print(f"{robot.name}: {robot.nv} degrees of freedom, {len(robot.frame_names)} frames, {robot.mass:.1f} kg")
print(f"{'joint':24} {'lower':>8} {'upper':>8}  deg")
lower, upper = np.rad2deg(robot.limits.lower[7:]), np.rad2deg(robot.limits.upper[7:])
for name, low, high in list(zip(robot.joint_names, lower, upper, strict=True))[:6]:
    print(f"{name:24} {low:8.1f} {high:8.1f}")
print("  ...")

# From a file: URDF (.urdf) or MJCF (.xml); xacro, which evaluates expressions, only with xacro=True.
URDF = """
<robot name="cart_and_pole">
  <link name="rail"/>
  <link name="cart">
    <inertial><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
  </link>
  <link name="pole">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="1"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.001"/>
    </inertial>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" velocity="2" effort="50"/>
  </joint>
  <joint name="swing" type="continuous">
    <parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/><limit velocity="10" effort="5"/>
  </joint>
</robot>
"""
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "cart_and_pole.urdf"
    file.write_text(URDF)
    cart = kd.load(file)
    print(f"\n{cart.name}: joints {list(cart.joint_names)}, velocity limits {cart.limits.velocity}")

    # An error names the file, the line and the element.
    file.write_text(URDF.replace('mass value="2"', 'mass value="-2"'))
    try:
        kd.load(file)
    except kd.DescriptionError as error:
        print(f"rejected: line {error.line}, <{error.element}>: {error.message}")

# From Denavit-Hartenberg parameters: two links of 0.4 m in a plane.
link = kd.DH(a=0.4, alpha=0.0, d=0.0, theta=0.0, joint="revolute")
planar = kd.from_dh([link, link], convention="standard")
hand = kd.kinematics.pose(planar, np.array([0.0, math.pi / 2]), planar.frame_names[-1])[:3, 3]
print(f"\ntwo links from DH: {planar.nv} joints, with the elbow at 90 degrees the hand is at {hand}")

# The error for an unknown name suggests similar ones.
try:
    kd.load("humanoyd")
except kd.UnknownNameError as error:
    print(f"rejected: {error}")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    ax = figure.subplots()
    for place, (height, mass) in enumerate(((1.2, 25.0), (1.75, 70.0), (2.0, 95.0))):
        human = kd.load("humanoid", height=height, mass=mass)
        p = kd.kinematics.poses(human, human.configuration("standing"))[:, :3, 3]
        bones = [(joint.parent, joint.child) for joint in human.joints[1:]]
        bones += [(frame.link, frame.name) for frame in human.description.frames]
        ends = np.array([[human.frame_index(end) for end in bone] for bone in bones])
        across = p[:, 1] + 0.25 * p[:, 0] + 0.9 * place  # seen from the front, slightly from the side
        ax.plot(across[ends.T], p[ends.T, 2], "o-", color=f"C{place}", lw=2.5, ms=3)
        ax.text(0.9 * place, -0.12, f"{height:g} m, {mass:g} kg", ha="center")
    ax.set(aspect="equal", ylim=(-0.2, 2.0), ylabel="[m]", title="the same human proportions at three sizes")
    ax.set_xticks([])
    ax.grid(alpha=0.3)
    figure.savefig(options.plot, dpi=80)
