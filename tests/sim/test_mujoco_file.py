"""MJCF files are simulated as robots: what a file sets for its own simulation does not reach what is added to it."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco as mj
import numpy as np

import kinodyn as kd
from kinodyn.model.robot import Robot

ARM = """
<mujoco>
  <option iterations="1" ls_iterations="2" solver="CG" viscosity="0.1">
    <flag sensor="disable" spring="{spring}"/>
  </option>
  <default>
    <motor ctrlrange="-1 1" ctrllimited="true" gear="3"/>
    <geom contype="0" conaffinity="0" margin="0.2"/>
    <default class="robot"><geom friction="0.01" solref="0.5 1"/><mesh scale="0.001 0.001 0.001"/></default>
  </default>
  <worldbody>
    <body name="base" childclass="robot">
      <joint name="turn" type="hinge" axis="0 1 0" stiffness="{stiffness}" springref="30"/>
      <geom type="box" size="0.1 0.1 0.3" pos="0 0 -0.3" mass="2"/>
    </body>
  </worldbody>
  <actuator><motor joint="turn" forcerange="-50 50" ctrlrange="-50 50" gear="1"/></actuator>
</mujoco>
"""


def load(folder: Path, stiffness: float = 0.0, spring: str = "enable") -> Robot:
    path = folder / "arm.xml"
    path.write_text(ARM.format(stiffness=stiffness, spring=spring))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        return kd.load(path)


def test_default_classes_do_not_weaken_motors_or_the_ground(tmp_path: Path) -> None:
    robot = load(tmp_path)
    simulator = kd.sim.MujocoSimulator(robot)
    torque = 20.0
    simulator.step([torque])
    assert simulator.data.qfrc_actuator[0] == torque
    floor = simulator.model.geom("terrain 0")
    assert floor.contype[0] and floor.margin[0] == 0.0 and floor.friction[0] == 1.0


def test_the_solver_has_mujocos_options_and_the_medium_that_of_the_file(tmp_path: Path) -> None:
    option, default = kd.sim.MujocoSimulator(load(tmp_path)).model.opt, mj.MjModel.from_xml_string("<mujoco/>").opt
    for name in ("iterations", "ls_iterations", "solver", "tolerance", "disableflags", "enableflags"):
        assert getattr(option, name) == getattr(default, name)
    assert option.viscosity == 0.1


def test_what_a_file_switches_off_of_its_robot_stays_off(tmp_path: Path) -> None:
    simulator = kd.sim.MujocoSimulator(load(tmp_path, 8.0, spring="disable"))
    assert simulator.model.opt.disableflags == int(mj.mjtDisableBit.mjDSBL_SPRING)


def test_torques_of_springs_are_observed(tmp_path: Path) -> None:
    robot = load(tmp_path, 8.0)
    simulator = kd.sim.MujocoSimulator(robot)
    simulator.reset([0.2])
    observation = kd.sim.observe(simulator, kd.State(robot, simulator.q), 0.0)
    assert observation.elastic is not None
    np.testing.assert_allclose(observation.elastic, [8.0 * (np.deg2rad(30.0) - 0.2)])
    rigid = kd.sim.MujocoSimulator(load(tmp_path))
    assert kd.sim.observe(rigid, kd.State(rigid.robot, rigid.q), 0.0).elastic is None


def test_the_ground_touches_bodies_that_a_file_excludes_from_its_world(tmp_path: Path) -> None:
    path = tmp_path / "ball.xml"
    path.write_text(
        '<mujoco><worldbody><body name="ball" pos="0 0 0.2"><freejoint/><geom size="0.1" mass="1"/></body></worldbody>'
        '<contact><exclude body1="world" body2="ball"/></contact></mujoco>'
    )
    robot = kd.load(path)
    simulator = kd.sim.MujocoSimulator(robot)
    simulator.reset([0.0, 0.0, 0.11, 0.0, 0.0, 0.0, 1.0])
    for _ in range(300):
        simulator.step(np.zeros(6))
    assert simulator.q[2] > 0.09
