"""Contacts, loops and impacts against Pinocchio's constraintDynamics and impulseDynamics, on humanoids and quadrupeds.

A contact that is moving has two accelerations that could be called zero. For points, Pinocchio means the second
derivative of the position, as kinodyn does always. For six directions it means the rate of the twist as a vector field,
which differs by w x v: so feet stand still in that comparison, and a moving one is given to Pinocchio's solver for any
Jacobian, which is told the drift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.human import humanoid
from kinodyn.description.urdf_writer import write_urdf

STATES = 100
ALIGNED, LOCAL = pin.LOCAL_WORLD_ALIGNED, pin.LOCAL
POINT, WHOLE = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D


@dataclass
class PinocchioModel:
    """The same robot in Pinocchio, and its states in Pinocchio's coordinates."""

    walker: Any
    model: pin.Model

    def __post_init__(self) -> None:
        self.data = self.model.createData()
        self.to = kd.convert.pinocchio(self.walker.robot, self.model)
        self.q = self.to.q_to(self.walker.q)
        self.tau = self.to.tau_to(self.walker.q, self.walker.tau)

    def frame(self, name: str) -> pin.Frame:
        return self.model.frames[self.model.getFrameId(name, pin.FrameType.BODY)]

    def feet(self, kind: pin.ContactType, reference: pin.ReferenceFrame) -> list[pin.RigidConstraintModel]:
        shift = pin.SE3(np.eye(3), self.walker.point)
        frames = [self.frame(foot) for foot in self.walker.feet]
        return [
            pin.RigidConstraintModel(kind, self.model, f.parentJoint, f.placement * shift, reference) for f in frames
        ]

    def solve(self, state: int, v: Array, models: list[Any], restitution: float | None = None) -> tuple[Array, Array]:
        """Ask for the acceleration, or the velocity after an impact, and for forces (contacts, 6) as Pinocchio says."""
        constraints, data = pin.StdVec_RigidConstraintModel(models), pin.StdVec_RigidConstraintData()
        for model in models:
            data.append(model.createData())
        pin.initConstraintDynamics(self.model, self.data, constraints, data)
        w = self.to.v_to(self.walker.q[state], v[state])
        settings = pin.ProximalSettings(1e-14, 0.0, 1)
        if restitution is None:
            tau = self.tau[state]
            x = pin.constraintDynamics(self.model, self.data, self.q[state], w, tau, constraints, data, settings)
            found = self.to.a_from(self.walker.q[state], v[state], x)
        else:
            x = pin.impulseDynamics(self.model, self.data, self.q[state], w, constraints, data, restitution, settings)
            found = self.to.v_from(self.walker.q[state], x)
        return found, np.stack([each.contact_force.vector for each in data])


@pytest.fixture(scope="module")
def peer(walker: Any) -> PinocchioModel:
    source = walker.robot.description.source
    base = pin.JointModelFreeFlyer()
    if source is None:
        return PinocchioModel(walker, pin.buildModelFromXML(write_urdf(humanoid()), base))
    return PinocchioModel(walker, pin.buildModelFromUrdf(str(source), base))


def in_world_axes(walker: Any, forces: Array) -> Array:
    """Turn forces (states, feet, 6) from the axes of the feet to those of the world."""
    R = kd.kinematics.poses(walker.robot, walker.q, frames=walker.feet)[..., :3, :3]
    return np.concatenate([R @ forces[..., :3, None], R @ forces[..., 3:, None]], axis=-2)[..., 0]


@pytest.mark.parametrize("reference", [ALIGNED, LOCAL], ids=str)
def test_forces_on_feet_at_rest_agree_with_pinocchio(peer: PinocchioModel, reference: pin.ReferenceFrame) -> None:
    walker, contacts = peer.walker, peer.walker.contacts()
    v = kd.contact.project_velocity(walker.robot, walker.q, walker.v, contacts)
    a, forces = kd.contact.dynamics(walker.robot, walker.q, v, walker.tau, contacts)
    models = peer.feet(WHOLE if walker.flat else POINT, reference)
    expected = [peer.solve(i, v, models) for i in range(STATES)]
    walker.assert_agree(a, [found for found, _ in expected])
    theirs = np.stack([force for _, force in expected])
    theirs = in_world_axes(walker, theirs) if reference == LOCAL else theirs
    walker.assert_agree(forces.vector, [force[:, : 6 if walker.flat else 3].ravel() for force in theirs])


def test_forces_on_moving_points_agree_with_pinocchio(peer: PinocchioModel) -> None:
    walker, contacts = peer.walker, peer.walker.contacts(flat=False)
    a, forces = kd.contact.dynamics(walker.robot, walker.q, walker.v, walker.tau, contacts)
    expected = [peer.solve(i, walker.v, peer.feet(POINT, ALIGNED)) for i in range(STATES)]
    walker.assert_agree(a, [found for found, _ in expected])
    walker.assert_agree(forces.vector, [force[:, :3].ravel() for _, force in expected])


def test_forces_on_moving_feet_agree_with_pinocchios_solver(peer: PinocchioModel) -> None:
    walker, model, data = peer.walker, peer.model, peer.data
    feet = walker.feet if walker.flat else walker.feet[:1]  # two would lock all joints of a quadruped's legs
    contacts = [kd.contact.Contact(foot) for foot in feet]
    a, forces = kd.contact.dynamics(walker.robot, walker.q, walker.v, walker.tau, contacts)
    ids = [model.getFrameId(foot, pin.FrameType.BODY) for foot in feet]
    expected, efforts = [], []
    for i in range(STATES):
        w = peer.to.v_to(walker.q[i], walker.v[i])
        pin.computeJointJacobiansTimeVariation(model, data, peer.q[i], w)
        pin.updateFramePlacements(model, data)
        J = np.vstack([pin.getFrameJacobian(model, data, k, ALIGNED) for k in ids])
        drift = np.concatenate([pin.getFrameJacobianTimeVariation(model, data, k, ALIGNED) @ w for k in ids])
        x = pin.forwardDynamics(model, data, peer.q[i], w, peer.tau[i], J, drift)
        expected.append(peer.to.a_from(walker.q[i], walker.v[i], x))
        efforts.append(data.lambda_c.copy())
    walker.assert_agree(a, expected)
    walker.assert_agree(forces.vector, efforts)


@pytest.mark.parametrize("restitution", [0.0, 0.3])
def test_impacts_agree_with_pinocchio(peer: PinocchioModel, restitution: float) -> None:
    walker, contacts = peer.walker, peer.walker.contacts()
    after, impulses = kd.contact.impact(walker.robot, walker.q, walker.v, contacts, restitution=restitution)
    models = peer.feet(WHOLE if walker.flat else POINT, ALIGNED)
    expected = [peer.solve(i, walker.v, models, restitution) for i in range(STATES)]
    walker.assert_agree(after, [found for found, _ in expected])
    walker.assert_agree(impulses.vector, [force[:, : 6 if walker.flat else 3].ravel() for _, force in expected])


@pytest.mark.parametrize(("kind", "directions"), [(WHOLE, "x y z rx ry rz"), (POINT, "x y z")], ids=["whole", "point"])
def test_a_loop_between_two_links_agrees_with_pinocchio(
    peer: PinocchioModel, kind: pin.ContactType, directions: str
) -> None:
    """The links hold each other where they happen to be, while a foot is on the ground."""
    walker, robot = peer.walker, peer.walker.robot
    T_frame = kd.spatial.pose([0.05, 0.1, -0.02], kd.spatial.rot_x(0.4))
    open_loop = kd.contact.Loop(*walker.pair, T_frame=T_frame, directions=directions)
    loop = open_loop.satisfied_at(robot, walker.q)
    foot = kd.contact.Contact(walker.feet[1], kind="point", point=walker.point)
    v = kd.contact.project_velocity(robot, walker.q, walker.v, [loop, foot])
    a, forces = kd.contact.dynamics(robot, walker.q, v, walker.tau, [loop, foot])
    one, two = (peer.frame(name) for name in walker.pair)
    expected, loads, ground = [], [], []
    for i in range(STATES):
        places = one.placement * pin.SE3(loop.T_frame), two.placement * pin.SE3(loop.T_other[i])
        joints = one.parentJoint, places[0], two.parentJoint, places[1]
        tied = pin.RigidConstraintModel(kind, peer.model, *joints, LOCAL)
        found, force = peer.solve(i, v, [tied, peer.feet(POINT, ALIGNED)[1]])
        expected.append(found), loads.append(force[0]), ground.append(force[1, :3])
    walker.assert_agree(a, expected)
    # closed, the two places have the same axes; Pinocchio tells the force in them
    walker.assert_agree(forces[loop.name], [load[: len(directions.split())] for load in loads])
    walker.assert_agree(forces[foot.name], ground)
