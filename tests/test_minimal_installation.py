"""Robots without a display: what works without the packages for viewer, figures, command line and symbols."""

from __future__ import annotations

import subprocess
import sys

import pytest

# As on the page "Getting started".
WITHOUT_DISPLAY = ("viser", "websockets", "matplotlib", "PIL", "typer", "rich", "sympy")
WITHOUT_ENGINES = (*WITHOUT_DISPLAY, "mujoco", "daqp", "ruckig", "toppra", "trimesh", "yaml")

BLOCK = """
import sys
import numpy as np

for name in {names}:
    sys.modules[name] = None  # an import raises ModuleNotFoundError
import kinodyn as kd
"""

KINEMATICS = """
robot = kd.load("panda")
q = robot.random(5, seed=0)
T = kd.kinematics.pose(robot, q, "panda_link8")
assert kd.ik.solve(robot, {"panda_link8": T}).success.all()
assert (kd.ik.analytic(robot, T, "panda_link8", q0=q).status == "solved").all()
zero = np.zeros(robot.nv)
assert np.isfinite(kd.dynamics.inverse(robot, q, zero, zero)).all()
assert kd.ik.WholeBody(robot, [kd.tasks.FrameTask("panda_link8", target=T[0])]).solve(q[0]).success
"""

CONTROL = """
robot = kd.load("humanoid")
body = kd.walking.Biped.from_robot(robot)
controller, simulator = kd.walking.WalkingController(body), kd.walking.make_simulator(body, "mujoco")
simulator.reset(body.q)
state = kd.State(robot, body.q)
state.update(simulator.q, simulator.v)
simulator.step(controller.act(kd.sim.observe(simulator, state, time=0.0)), steps=2)
assert np.isfinite(simulator.q).all()
panda = kd.load("panda")
planned = kd.planning.plan(panda, panda.configuration("ready"), panda.configuration("ready") + 0.1)
assert planned.success and planned.trajectory().duration > 0
assert kd.retarget and kd.jobs and kd.estimation and kd.identification and kd.terrain
"""


@pytest.mark.parametrize(
    ("missing", "work"),
    [(WITHOUT_ENGINES, KINEMATICS), (WITHOUT_DISPLAY, KINEMATICS + CONTROL)],
    ids=["numpy and scipy only", "without display"],
)
def test_a_part_of_the_dependencies_is_enough(missing: tuple[str, ...], work: str) -> None:
    code = BLOCK.format(names=missing) + work
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
