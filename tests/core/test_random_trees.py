"""Random trees of random joints, against a second implementation that is slow and plain.

The reference takes every joint apart into steps with constant local axes, multiplies 4 x 4 matrices from the root,
keeps a full 6 x nv Jacobian for each link and sums over links: M = sum J^T I J, tau = sum J^T (I a + v x* I v).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Frame, Inertia, Joint, Link, Mimic
from kinodyn.model.robot import Robot

SIZES = {"revolute": (1, 1), "continuous": (1, 1), "prismatic": (1, 1), "planar": (3, 3), "ball": (4, 3)}
SIZES |= {"floating": (7, 6), "fixed": (0, 0)}
ONE = ("revolute", "continuous", "prismatic")


def moved(R: Array | None = None, p: Array | None = None) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.eye(3) if R is None else R, np.zeros(3) if p is None else p
    return T


def skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def adjoint(T: Array) -> Array:
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, skew(p) @ R], [np.zeros((3, 3)), R]])


def crossing(v: Array) -> Array:
    return np.block([[skew(v[3:]), skew(v[:3])], [np.zeros((3, 3)), skew(v[3:])]])


def turn(axis: Array, angle: float) -> Array:
    return moved(Rotation.from_rotvec(axis * angle).as_matrix())


def plane(normal: Array) -> tuple[Array, Array]:
    """Find the plane's own x and y: those of the world, turned to the normal; from below, y the other way."""
    up = normal if normal[2] >= 0 else -normal
    z = np.array([0.0, 0.0, 1.0])
    tilt = np.cross(z, up)
    length = np.linalg.norm(tilt)
    angle = np.arctan2(length, up[2])
    R = Rotation.from_rotvec(tilt * (angle / length if length > 1e-12 else 1.0)).as_matrix()
    return R[:, 0], R[:, 1] if normal[2] >= 0 else -R[:, 1]


def steps(joint: Joint, x: Array) -> list[tuple[Array, Array]]:
    """Take a joint's motion apart: a transform and the twists (6, k) of its rates, in axes after the transform."""
    none, I3 = np.zeros((3, 3)), np.eye(3)
    if joint.kind in ("revolute", "continuous"):
        return [(turn(joint.axis, x[0] - joint.reference), np.r_[0, 0, 0, joint.axis][:, None])]
    if joint.kind == "prismatic":
        return [(moved(p=(x[0] - joint.reference) * joint.axis), np.r_[joint.axis, 0, 0, 0][:, None])]
    if joint.kind == "ball":
        return [(moved(Rotation.from_quat(x).as_matrix()), np.vstack([none, I3]))]
    if joint.kind == "floating":
        return [(moved(Rotation.from_quat(x[3:]).as_matrix(), x[:3]), np.eye(6))]
    if joint.kind == "planar":
        slides = [(moved(p=x[k] * e), np.r_[e, 0, 0, 0][:, None]) for k, e in enumerate(plane(joint.axis))]
        return [*slides, (turn(joint.axis, x[2]), np.r_[0, 0, 0, joint.axis][:, None])]
    return []


@dataclass
class Body:
    T: Array
    J: Array
    v: Array
    a: Array
    moves: bool = True


class Reference:
    """Everything about a description at (q, v, a), the long way."""

    def __init__(self, description: Description, q: Array, v: Array, a: Array) -> None:
        self.description, self.nv = description, len(v)
        self.joints = {joint.name: joint for joint in description.joints}
        self.places: dict[str, tuple[int, int]] = {}
        below = {joint.child for joint in description.joints}
        root = next(link.name for link in description.links if link.name not in below)
        self._number(root, [0, 0])
        self.bodies = {root: Body(np.eye(4), np.zeros((6, self.nv)), np.zeros(6), np.zeros(6), False)}
        self._move(root, q, v, a)
        for frame in description.frames:
            body = self.bodies[frame.link]
            self.bodies[frame.name] = Body(body.T @ frame.T_link_frame, body.J, body.v, body.a)
        self._sum(v, a)

    def _number(self, link: str, next_place: list[int]) -> None:
        for joint in self.description.joints:
            if joint.parent == link:
                self.places[joint.name] = (next_place[0], next_place[1])
                if joint.mimic is None:
                    next_place[0] += SIZES[joint.kind][0]
                    next_place[1] += SIZES[joint.kind][1]
                self._number(joint.child, next_place)

    def _position(self, joint: Joint, q: Array) -> tuple[Array, Array]:
        """Give a joint's own position and d(own rates)/dv."""
        nq, nv = SIZES[joint.kind]
        if joint.mimic is not None:
            x, rates = self._position(self.joints[joint.mimic.joint], q)
            return joint.mimic.multiplier * x + joint.mimic.offset, joint.mimic.multiplier * rates
        iq, iv = self.places[joint.name]
        return q[iq : iq + nq], np.eye(self.nv)[iv : iv + nv]

    def _move(self, link: str, q: Array, v: Array, a: Array) -> None:
        for joint in self.description.joints:
            if joint.parent != link:
                continue
            body = self.bodies[link]
            T, J, V, A = body.T @ joint.T_parent_child, body.J, body.v, body.a
            x, rates = self._position(joint, q)
            done = 0
            for T_step, axes in steps(joint, x):
                T = T @ T_step
                S = adjoint(T) @ axes @ rates[done : done + axes.shape[1]]
                done += axes.shape[1]
                J, V = J + S, V + S @ v
                A = A + S @ a + crossing(V) @ S @ v
            self.bodies[joint.child] = Body(T, J, V, A, body.moves or joint.kind != "fixed")
            self._move(joint.child, q, v, a)

    def _sum(self, v: Array, a: Array) -> None:
        gravity = np.r_[self.description.gravity, 0, 0, 0]
        armature, damping = np.zeros((2, self.nv))
        for joint in self.description.joints:
            for row in self._position(joint, np.zeros(self.nv * 2))[1]:
                armature += joint.armature * row**2
                damping += joint.damping * row**2
        self.M, self.tau, self.g = np.diag(armature), armature * a + damping * v, np.zeros(self.nv)
        self.kinetic, self.mass, self.moment, self.h = 0.5 * armature @ v**2, 0.0, np.zeros(3), np.zeros(6)
        for link in self.description.links:
            body = self.bodies[link.name]
            if link.inertia is None or not body.moves:
                continue
            m, c = link.inertia.mass, skew(link.inertia.com)
            I_local = np.block([[m * np.eye(3), -m * c], [m * c, link.inertia.matrix - m * c @ c]])
            inward = np.linalg.inv(adjoint(body.T))
            inertia = inward.T @ I_local @ inward
            momentum = inertia @ body.v
            self.M += body.J.T @ inertia @ body.J
            self.g += body.J.T @ inertia @ -gravity
            self.tau += body.J.T @ (inertia @ (body.a - gravity) - crossing(body.v).T @ momentum)
            self.kinetic += 0.5 * body.v @ momentum
            self.mass += m
            self.moment += m * (body.T[:3, :3] @ link.inertia.com + body.T[:3, 3])
            self.h += momentum

    def jacobian(self, name: str) -> Array:
        body = self.bodies[name]
        return np.vstack([body.J[:3] - skew(body.T[:3, 3]) @ body.J[3:], body.J[3:]])


def unit(rng: np.random.Generator, aligned: bool) -> Array:
    if aligned:
        return np.asarray(np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]))
    axis = rng.normal(size=3)
    return np.asarray(axis / np.linalg.norm(axis))


def somewhere(rng: np.random.Generator) -> Array:
    turns = [np.eye(3), Rotation.random(random_state=rng).as_matrix(), Rotation.from_euler("x", 90, True).as_matrix()]
    return moved(turns[rng.integers(3)], rng.integers(0, 2) * rng.uniform(-1, 1, 3))


def some_inertia(rng: np.random.Generator) -> Inertia:
    R = Rotation.random(random_state=rng).as_matrix()
    x, y, z = rng.uniform(0.01, 0.1, 3)
    return Inertia(rng.uniform(0.5, 3.0), rng.uniform(-0.3, 0.3, 3), R @ np.diag([y + z, x + z, x + y]) @ R.T)


@st.composite
def descriptions(draw: st.DrawFn) -> Description:
    """Draw a tree: links hang on any earlier one, joints are listed in any order, some follow others of lower rank."""
    kinds = draw(st.lists(st.sampled_from(sorted(SIZES)), min_size=1, max_size=7))
    parents = [draw(st.integers(0, i)) for i in range(len(kinds))]
    massless = [draw(st.integers(0, 3)) == 0 for _ in kinds]
    aligned = [draw(st.booleans()) for _ in kinds]
    ranks = draw(st.permutations(range(len(kinds))))
    listed = draw(st.permutations(range(len(kinds))))
    leaders = [draw(st.integers(0, 2 * len(kinds))) for _ in kinds]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def mimic(i: int) -> Mimic | None:
        j = leaders[i]
        if j >= len(kinds) or kinds[i] not in ONE or kinds[j] not in ONE or ranks[j] >= ranks[i]:
            return None
        return Mimic(f"j{j}", float(rng.choice([1.0, -0.5, 0.0, 2.0, rng.normal()])), rng.normal())

    joints = [
        Joint(
            f"j{i}",
            kind,  # type: ignore[arg-type]
            f"l{parents[i]}",
            f"l{i + 1}",
            somewhere(rng),
            unit(rng, aligned[i]),
            reference=rng.choice([0.0, 0.4]) if kind in ONE else 0.0,
            armature=rng.choice([0.0, 0.1]),
            damping=rng.choice([0.0, 0.2]),
            mimic=mimic(i),
        )
        for i, kind in enumerate(kinds)
    ]
    links = [Link("l0"), *(Link(f"l{i + 1}", None if massless[i] else some_inertia(rng)) for i in range(len(kinds)))]
    gravity = tuple(rng.normal(size=3) * 5)
    frames = (Frame("tool", f"l{len(kinds)}", somewhere(rng)),)
    return Description("tree", tuple(links), tuple(joints[i] for i in listed), frames, gravity=gravity)


def assert_agree(found: Array, expected: Array, tolerance: float = 1e-9) -> None:
    scale = max(1e-3, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


@settings(max_examples=150, deadline=None)
@given(description=descriptions(), seed=st.integers(0, 1000))
def test_random_trees_agree_with_the_reference_implementation(description: Description, seed: int) -> None:
    robot = Robot(description)
    q, (v, a, tau) = robot.random(5, seed=seed), np.random.default_rng(seed).normal(size=(3, 5, robot.nv))
    K, D = kd.kinematics, kd.dynamics
    batch = {
        "poses": K.poses(robot, q),
        "jacobian": K.jacobian(robot, q, "tool"),
        "mass matrix": D.mass_matrix(robot, q),
        "inverse": D.inverse(robot, q, v, a),
        "gravity": D.gravity(robot, q),
        "kinetic energy": D.kinetic_energy(robot, q, v),
        "potential energy": D.potential_energy(robot, q),
    }
    for i in (0, 4):
        expected = Reference(robot.description, q[i], v[i], a[i])  # a floating base comes first there
        answers = {
            "poses": np.stack([expected.bodies[name].T for name in robot.frame_names]),
            "jacobian": expected.jacobian("tool"),
            "mass matrix": expected.M,
            "inverse": expected.tau,
            "gravity": expected.g,
            "kinetic energy": np.asarray(expected.kinetic),
            "potential energy": -expected.moment @ np.asarray(description.gravity),
        }
        for key, value in answers.items():
            assert_agree(batch[key][i], value)
        assert_agree(D.inverse(robot, q[i], v[i], a[i]), expected.tau)
        assert_agree(D.mass_matrix(robot, q[i]), expected.M)
        assert_agree(np.asarray(robot.mass), np.asarray(expected.mass))
        if expected.mass > 0:
            com = expected.moment / expected.mass
            assert_agree(K.com(robot, q[i]), com)
            about_com = expected.h - np.r_[0, 0, 0, np.cross(com, expected.h[:3])]
            assert_agree(kd.centroidal.momentum(robot, q[i], v[i]), about_com)
        if robot.nv and np.linalg.cond(expected.M) < 1e6:
            acceleration = np.linalg.solve(expected.M, tau[i] - expected.tau + expected.M @ a[i])
            assert_agree(D.forward(robot, q, v, tau)[i], acceleration)
            assert_agree(D.forward(robot, q[i], v[i], tau[i]), acceleration)
