"""What a fit may change: the parameters that enter the torques linearly, their names, columns and prior values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinodyn import dynamics, kinematics
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.identification.inertias import NAMES
from kinodyn.identification.measurements import Measurements
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot, require_robot

TERMS = ("viscous", "coulomb", "armature", "offset")
ROWS = 4_000  # rows of the regressor that are held in memory at a time


@dataclass(frozen=True, eq=False)
class Model:
    """Torques that are linear in parameters: Y(q, v, a) x + what the robot has and is not fitted.

    Attributes
    ----------
    robot : Robot
        Gives the geometry, and the values before the fit.
    terms : tuple of str
        Of "viscous" (times v), "coulomb" (times the sign of v), "armature" (times a) and "offset" (constant), those
        that are fitted besides the inertias, one parameter of each for each joint.
    joints : tuple of JointInfo
        The joints that have these: all with coordinates of their own, free bodies excepted.
    names : tuple of str
        Names of the parameters: "m(hand)", "viscous(elbow)".
    """

    robot: Robot
    terms: tuple[str, ...]
    joints: tuple[JointInfo, ...]
    names: tuple[str, ...]

    @property
    def inertial(self) -> int:
        """Count the inertial parameters, which come first: ten for each moving link."""
        return 10 * len(self.robot.parameter_links)

    def places(self, term: str) -> slice:
        """Find where the parameters of one term stand in x."""
        start = self.inertial + self.terms.index(term) * len(self.joints)
        return slice(start, start + len(self.joints))

    def prior(self) -> Array:
        """List the values (p,) that the robot has before the fit; offsets are 0."""
        own = {"viscous": self.robot.damping, "coulomb": self.robot.friction, "armature": self.robot.armature}
        first = [joint.v.start for joint in self.joints]
        parts = [own[term][first] if term in own else np.zeros(len(first)) for term in self.terms]
        return np.concatenate([self.robot.inertial_parameters, *parts])

    def columns(self, q: Array, v: Array, a: Array, *, slip: float = 0.0) -> Array:
        """Compute Y (..., nv, p) at states (..., nq), (..., nv), (..., nv).

        With `slip` [rad/s or m/s] above 0 dry friction turns smoothly, as tanh(v / slip): for derivatives.
        """
        inertial = dynamics.regressor(self.robot, q, v, a)
        sign = np.tanh(v / slip) if slip > 0.0 else np.sign(v)
        signals = {"viscous": v, "coulomb": sign, "armature": a, "offset": np.ones_like(v)}
        Y = np.zeros((*inertial.shape[:-1], len(self.names)))
        Y[..., : self.inertial] = inertial
        for term in self.terms:
            for column, joint in enumerate(self.joints, start=self.places(term).start):
                Y[..., joint.v, column] = signals[term][..., joint.v]
        return Y

    def known(self, data: Measurements) -> Array:
        """Compute the torques (n, nv) that the fit leaves alone: armature and damping that are not fitted, wrenches."""
        v, a = data.moving()
        fitted = np.zeros(self.robot.nv, dtype=bool)
        for joint in self.joints:
            fitted[joint.v] = True
        armature = np.where(fitted & ("armature" in self.terms), 0.0, self.robot.armature)
        damping = np.where(fitted & ("viscous" in self.terms), 0.0, self.robot.damping)
        known: Array = armature * a + damping * v
        for frame, wrench in data.wrenches.items():
            J = kinematics.jacobian(self.robot, data.q, frame)
            known -= np.einsum("nij,ni->nj", J, wrench)
        return known

    def predict(self, data: Measurements, x: Array) -> Array:
        """Compute the torques (n, nv) that parameters x (p,) give along the data."""
        tau = self.known(data)
        for part in chunks(len(data), self.robot.nv):
            some = data[part]
            tau[part] += self.columns(some.q, *some.moving()) @ x
        return tau


def chunks(samples: int, rows: int) -> list[slice]:
    """Cut samples into parts whose regressors fit into memory."""
    size = max(ROWS // max(rows, 1), 1)
    return [slice(start, min(start + size, samples)) for start in range(0, samples, size)]


def make_model(robot: Robot, terms: Sequence[str]) -> Model:
    """Check what is to be fitted and name it."""
    require_robot(robot)
    if robot.nv == 0:
        raise InputError(f"{robot.name} has no joint that moves; nothing of it can be identified")
    if isinstance(terms, str) or not set(terms) <= set(TERMS):
        raise InputError(f"terms is {terms!r}; give some of {', '.join(map(repr, TERMS))}, in a tuple")
    kept = tuple(term for term in TERMS if term in terms)
    joints = tuple(joint for joint in robot.joints if joint.mimic is None and joint.kind != "floating")
    names = [f"{name}({link})" for link in robot.parameter_links for name in NAMES]
    names += [f"{term}({joint.name})" for term in kept for joint in joints]
    return Model(robot, kept, joints, tuple(names))
