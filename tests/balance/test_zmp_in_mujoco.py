"""While a humanoid walks in MuJoCo, its motion and the forces under its feet tell the same zero moment point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import ArrayLike

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.sim import MujocoSimulator, Push, simulate
from kinodyn.sim.mujoco_state import ContactWrenches
from kinodyn.walking import Biped, WalkingController

SECONDS = 1.8
PUSH = Push("torso", [60.0, -40.0, 10.0], start=1.2, duration=0.2)


class Watched(MujocoSimulator):
    """Keeps, for every physical step, the state before it, MuJoCo's acceleration and forces, and what pushed."""

    def __init__(self, robot: kd.Robot, **settings: Any) -> None:
        super().__init__(robot, **settings)
        # by default the solver stops early, and leaves forces and acceleration apart: by 2 micrometres of this point
        self.model.opt.tolerance, self.model.opt.iterations = 1e-15, 200
        self.to = kd.convert.mujoco(robot, self.model)
        self.q_before, self.v_before, self.a = list[Array](), list[Array](), list[Array]()
        self.wrenches: list[dict[str, Array]] = []
        self.bodies_that_touch: set[int] = set()

    def step(self, tau: ArrayLike, wrenches: Mapping[str, ArrayLike] | None = None, *, steps: int = 1) -> None:
        for _ in range(steps):
            q, v = self.q.copy(), self.v.copy()
            super().step(tau, wrenches)
            self.q_before.append(q)
            self.v_before.append(v)
            self.a.append(self.to.a_from(q, v, self.data.qacc))
            push = {PUSH.frame: np.zeros(6), **{name: np.array(w) for name, w in (wrenches or {}).items()}}
            self.wrenches.append({**self.contact_forces(), **push})
            self.bodies_that_touch |= set(self.model.geom_bodyid[self.data.contact.geom].ravel().tolist())


class Run(NamedTuple):
    """A walk, at the instants when the robot bears load: states, accelerations, wrenches from outside."""

    robot: kd.Robot
    simulator: Watched
    q: Array
    v: Array
    a: Array
    feet: dict[str, Array]
    push: Array


@pytest.fixture(scope="module")
def walked() -> Run:
    robot = kd.load("humanoid")
    body = Biped.from_robot(robot)
    soles = [foot.frame for foot in body.feet.values()]
    simulator = Watched(robot, frames=soles)
    controller = WalkingController(body)
    controller.command([0.3, 0.0, 0.2], at=0.0)
    options: dict[str, Any] = {"q0": body.q, "engine": simulator, "control_dt": controller.dt, "pushes": [PUSH]}
    assert simulate(robot, controller, SECONDS, **options).status == "complete" and controller.fallen is None
    feet = {int(simulator.model.site(sole).bodyid[0]) for sole in soles}
    assert simulator.bodies_that_touch == {0, *feet}  # nothing but the soles and the ground
    forces = {frame: np.array([row[frame] for row in simulator.wrenches]) for frame in (*soles, PUSH.frame)}
    loads = np.array([forces[sole][:, 2] for sole in soles])
    bears = loads.sum(axis=0) > 0.05 * 9.81 * robot.mass
    assert bears.mean() > 0.99
    assert 0.2 < (loads.min(axis=0) <= 0.0).mean() < 0.9  # it did walk: on one foot, and on two
    q, v, a = (np.array(rows)[bears] for rows in (simulator.q_before, simulator.v_before, simulator.a))
    kept = {frame: wrench[bears] for frame, wrench in forces.items()}
    return Run(robot, simulator, q, v, a, {sole: kept[sole] for sole in soles}, kept[PUSH.frame])


def test_motion_and_forces_give_the_same_zmp_at_every_instant(walked: Run) -> None:
    from_motion = kd.balance.zmp(walked.robot, walked.q, walked.v, walked.a)
    outside = {**walked.feet, PUSH.frame: walked.push}
    np.testing.assert_allclose(from_motion, kd.balance.zmp_from_wrenches(walked.robot, walked.q, outside), atol=1e-9)
    # the pendulum alone, without angular momentum, is somewhere else
    com = kd.kinematics.com(walked.robot, walked.q)
    force = kd.balance.contact_wrench(walked.robot, walked.q, walked.v, walked.a)[:, :3]
    assert np.abs(com - com[:, 2:] * force / force[:, 2:] - from_motion)[:, :2].max() > 0.01


def test_under_a_push_the_feet_carry_the_contact_wrench_minus_the_push(walked: Run) -> None:
    robot, q, push = walked.robot, walked.q, walked.push
    pushed = push.any(axis=1)
    assert pushed.sum() == round(1000 * PUSH.duration)
    from_motion = kd.balance.zmp(robot, q, walked.v, walked.a)
    from_feet = kd.balance.zmp_from_wrenches(robot, q, walked.feet)
    np.testing.assert_allclose(from_motion[~pushed], from_feet[~pushed], atol=1e-9)
    assert np.linalg.norm(from_motion - from_feet, axis=1)[pushed].min() > 0.05
    com, at = kd.kinematics.com(robot, q), kd.kinematics.pose(robot, q, PUSH.frame)[:, :3, 3]
    f, n = np.split(kd.balance.contact_wrench(robot, q, walked.v, walked.a), 2, axis=1)
    f, n = f - push[:, :3], n - push[:, 3:] - np.cross(at - com, push[:, :3])
    x = com[:, 0] - (n[:, 1] + com[:, 2] * f[:, 0]) / f[:, 2]
    y = com[:, 1] + (n[:, 0] - com[:, 2] * f[:, 1]) / f[:, 2]
    np.testing.assert_allclose(np.column_stack([x, y]), from_feet[:, :2], atol=1e-9)


def test_forces_at_single_contacts_give_the_same_zmp(walked: Run) -> None:
    model, data = walked.simulator.model, walked.simulator.data
    touches = ContactWrenches(model, data)
    force = touches.wrenches[:, :3]
    on_robot = np.where((touches.bodies[:, 1] == 0)[:, None], -force, force)
    last = {sole: wrench[-1] for sole, wrench in walked.feet.items()}
    point = kd.balance.zmp_from_wrenches(walked.robot, walked.q[-1], last)
    np.testing.assert_allclose(kd.balance.zmp_from_forces(data.contact.pos, on_robot), point, atol=1e-9)
