"""Contacts and loops against MuJoCo's equality constraints, on humanoids and quadrupeds.

MuJoCo's constraints are soft by design, and their reference accelerations leave out the drift of moving constraints.
What is exact in it is compared: the rows efc_J; at rest, the motion and forces that follow from its mass matrix, forces
and rows; moving, that our forces, applied to its bodies without any constraint, give our accelerations, and that these
move the tied sites as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

STATES = 100
WELD, CONNECT = mujoco.mjtEq.mjEQ_WELD, mujoco.mjtEq.mjEQ_CONNECT


def add_bodies(spec: mujoco.MjSpec, robot: Robot) -> None:
    """Build the robot's bodies and joints; frames that are no links become bodies without mass."""
    links = {link.name: link for link in robot.description.links}
    bodies: dict[str, Any] = {}
    placed = {joint.child for joint in robot.description.joints}

    def add(parent: Any, name: str, T: Array) -> Any:
        body = parent.add_body(name=name, pos=T[:3, 3], quat=kd.spatial.as_quaternion(T[:3, :3])[[3, 0, 1, 2]])
        inertia = links[name].inertia if name in links else None
        if inertia is not None and inertia.mass > 0:
            moments, axes = np.linalg.eigh(inertia.matrix)
            axes[:, 0] *= np.linalg.det(axes)
            body.mass, body.ipos, body.explicitinertial = inertia.mass, inertia.com, True
            body.inertia, body.iquat = np.maximum(moments, 0.0), kd.spatial.as_quaternion(axes)[[3, 0, 1, 2]]
        bodies[name] = body
        return body

    for name in links:
        if name not in placed:
            bodies[name] = spec.worldbody
    waiting = list(robot.description.joints)
    while waiting:
        joint = next(joint for joint in waiting if joint.parent in bodies)
        waiting.remove(joint)
        body = add(bodies[joint.parent], joint.child, joint.T_parent_child)
        if joint.kind == "floating":
            body.add_freejoint(name=joint.name)
        elif joint.kind != "fixed":
            body.add_joint(name=joint.name, axis=joint.axis)
    for frame in robot.description.frames:
        add(bodies[frame.link], frame.name, frame.T_link_frame)


@dataclass
class MujocoReference:
    """The robot in MuJoCo, with a pair of sites for each constraint; those of `other` are moved to close it."""

    walker: Any
    contacts: list[kd.contact.Contact]
    loop: kd.contact.Loop
    v: Array

    def __post_init__(self) -> None:
        spec = mujoco.MjSpec()
        spec.option.gravity = self.walker.robot.gravity
        add_bodies(spec, self.walker.robot)
        pairs = [(contact.frame, "world", contact.kind == "surface") for contact in self.contacts]
        pairs.append((self.loop.frame, self.loop.other, len(self.loop.directions) == 6))
        for k, (frame, other, whole) in enumerate(pairs):
            spec.body(frame).add_site(name=f"frame_{k}", pos=self.place(k))
            spec.body(other).add_site(name=f"other_{k}")
            tie = spec.add_equality(name=f"tie_{k}", name1=f"frame_{k}", name2=f"other_{k}")
            tie.type, tie.objtype = WELD if whole else CONNECT, mujoco.mjtObj.mjOBJ_SITE
            if whole:
                tie.data[10] = 1.0  # torquescale
        self.whole = [whole for _, _, whole in pairs]
        self.model = spec.compile()
        self.to = kd.convert.mujoco(self.walker.robot, self.model)

    def place(self, k: int) -> Array:
        return self.contacts[k].point if k < len(self.contacts) else self.loop.T_frame[:3, 3]

    def at(self, state: int, v: Array) -> mujoco.MjData:
        """Put MuJoCo into a state in which every pair of sites coincides."""
        q, data = self.walker.q[state], mujoco.MjData(self.model)
        data.qpos, data.qvel = self.to.q_to(q), self.to.v_to(q, v)
        data.qfrc_applied = self.to.tau_to(q, self.walker.tau[state])
        mujoco.mj_kinematics(self.model, data)
        for k in range(len(self.whole)):
            one, two = (self.model.site(f"{end}_{k}") for end in ("frame", "other"))
            body = two.bodyid[0]
            back, shift, turn = np.zeros(4), np.zeros(3), np.zeros(4)
            mujoco.mju_negQuat(back, data.xquat[body])
            mujoco.mju_rotVecQuat(shift, data.site(one.name).xpos - data.xpos[body], back)
            mujoco.mju_mulQuat(turn, back, data.xquat[one.bodyid[0]])
            two.pos[:], two.quat[:], two.sameframe[:] = shift, turn, mujoco.mjtSameFrame.mjSAMEFRAME_NONE
        mujoco.mj_forward(self.model, data)
        return data

    def rows(self, data: mujoco.MjData) -> Array:
        """Give MuJoCo's rows; those that turn are of half angles, in the axes of the site: make them ours."""
        J = data.efc_J.reshape(data.nefc, self.model.nv).copy()
        row = 0
        for k, whole in enumerate(self.whole):
            if whole:
                J[row + 3 : row + 6] *= 2.0
                if k < len(self.contacts):  # told in world axes
                    J[row + 3 : row + 6] = data.site(f"frame_{k}").xmat.reshape(3, 3) @ J[row + 3 : row + 6]
            if k == len(self.contacts):
                J[row : row + 3] = data.site(f"other_{k}").xmat.reshape(3, 3).T @ J[row : row + 3]
            row += 6 if whole else 3
        assert row == len(J)
        return J


@pytest.fixture(scope="module")
def reference(walker: Any) -> MujocoReference:
    """Feet on the ground, and two links that hold each other where they are: hands, or opposite feet in the air."""
    feet = walker.contacts() if walker.flat else walker.contacts()[1:3]
    loop = kd.contact.Loop(*walker.pair, T_frame=kd.spatial.pose([0.05, 0.1, -0.02]))
    loop = loop.satisfied_at(walker.robot, walker.q)
    v = kd.contact.project_velocity(walker.robot, walker.q, walker.v, [*feet, loop])
    return MujocoReference(walker, feet, loop, v)


def mass_matrix(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    M = np.zeros((model.nv, model.nv))
    for row, unit in zip(M, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    return M


def test_constraint_rows_and_accelerations_from_rest_agree_with_mujoco(reference: MujocoReference) -> None:
    walker, ties = reference.walker, [*reference.contacts, reference.loop]
    still = np.zeros(walker.robot.nv)
    a, forces = kd.contact.dynamics(walker.robot, walker.q, still, walker.tau, ties)
    J = kd.contact.jacobian(walker.robot, walker.q, ties)
    assert (forces.rank == forces.rows).all()
    rows, accelerations, efforts = [], [], []
    for i in range(STATES):
        data = reference.at(i, still)
        assert np.abs(data.efc_pos).max() < 1e-12
        theirs = reference.rows(data)
        rows.append((theirs @ reference.to.v_to(walker.q[i], np.eye(walker.robot.nv)).T).ravel())
        n = len(theirs)
        K = np.block([[mass_matrix(reference.model, data), -theirs.T], [theirs, np.zeros((n, n))]])
        x = np.linalg.solve(K, np.concatenate([data.qfrc_smooth, np.zeros(n)]))
        accelerations.append(reference.to.a_from(walker.q[i], still, x[:-n]))
        efforts.append(x[-n:])
    walker.assert_agree(J.reshape(STATES, -1), rows)
    walker.assert_agree(a, accelerations)
    walker.assert_agree(forces.vector, efforts)


def test_contact_forces_applied_in_mujoco_give_the_same_accelerations(reference: MujocoReference) -> None:
    walker, ties = reference.walker, [*reference.contacts, reference.loop]
    a, forces = kd.contact.dynamics(walker.robot, walker.q, reference.v, walker.tau, ties)
    accelerations = []
    for i in range(STATES):
        data = reference.at(i, reference.v[i])
        for k, tie in enumerate(ties):
            force = np.zeros(6)
            force[: forces[tie.name].shape[-1]] = forces[tie.name][i]
            if tie is reference.loop:
                R = data.site(f"other_{k}").xmat.reshape(3, 3)
                force = np.concatenate([R @ force[:3], R @ force[3:]])
            for end, sign in (("frame", 1.0), ("other", -1.0)):
                site, effort = data.site(f"{end}_{k}"), sign * force
                body = reference.model.site(f"{end}_{k}").bodyid[0]
                mujoco.mj_applyFT(reference.model, data, effort[:3], effort[3:], site.xpos, body, data.qfrc_applied)
        data.eq_active[:] = 0
        mujoco.mj_forward(reference.model, data)
        accelerations.append(reference.to.a_from(walker.q[i], reference.v[i], data.qacc))
        mujoco.mj_rnePostConstraint(reference.model, data)
        assert_tied(reference, data, float(np.abs(data.qacc).max()))
    walker.assert_agree(a, accelerations)


def assert_tied(reference: MujocoReference, data: mujoco.MjData, scale: float) -> None:
    """Both sites of each pair accelerate alike: in all six directions, or in three."""
    for k, whole in enumerate(reference.whole):
        pair = np.zeros((2, 6))
        for row, end in zip(pair, ("frame", "other"), strict=True):
            site = reference.model.site(f"{end}_{k}").id
            mujoco.mj_objectAcceleration(reference.model, data, mujoco.mjtObj.mjOBJ_SITE, site, row, 0)
        apart = pair[0] - pair[1]
        assert np.abs(apart[0 if whole else 3 :]).max() < 1e-8 * scale
