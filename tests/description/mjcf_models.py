"""MJCF texts for the tests."""

from __future__ import annotations

from kinodyn.description.types import Description, Joint

# Every joint kind, several joints in one body, anchors off the origin, references, a frame, degrees.
EVERYTHING = """
<mujoco model="everything">
  <option gravity="0 0.5 -9.7"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 4 0.1"/>
    <site name="origin" pos="0.1 0.2 0.3" euler="10 20 30"/>
    <body name="torso" pos="0 0 1" euler="5 6 7">
      <freejoint name="root"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.05 0 0" euler="30 0 40"/>
      <body name="arm" pos="0.1 0.2 0.3" euler="40 -50 60">
        <joint name="swing" axis="1 2 3" pos="0.03 -0.02 0.05" ref="30" range="-90 120"/>
        <joint name="slide" type="slide" axis="0 1 1" pos="1 1 1" ref="0.2"/>
        <joint name="twist" axis="1 0 -1" pos="0 0.04 0.01"/>
        <geom type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.03"/>
        <site name="grip" pos="0.3 0 0" quat="0.5 0.5 -0.5 0.5"/>
        <frame pos="0.3 0 0" euler="0 90 0">
          <body name="hand">
            <joint name="wrist" type="ball" pos="0.01 0.02 0.03"/>
            <geom type="ellipsoid" size="0.03 0.05 0.02"/>
            <body pos="0 0 0.1"><joint axis="0 1 0"/><geom size="0.02"/></body>
          </body>
        </frame>
      </body>
      <body name="head" pos="0 0 0.4"><geom size="0.1"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def joint(description: Description, name: str) -> Joint:
    return next(j for j in description.joints if j.name == name)


def wrap(body: str, rest: str = "") -> str:
    return f"<mujoco><worldbody>{body}</worldbody>{rest}</mujoco>"


ONE_HINGE = '<body name="a"><joint name="h"/><geom size="0.1"/></body>'
