"""The linear model of a fit: names of the parameters, regressor and prior values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kinodyn import dynamics, kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.identification.inertias import NAMES
from kinodyn.identification.measurements import Measurements
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot, require_robot

TERMS = ("viscous", "coulomb", "armature", "offset")
MAX_ROWS = 4_000  # of the regressor in memory at a time


@displayed
@dataclass(frozen=True, eq=False)
class Model:
    """Torques as a linear function of parameters: Y(q, v, a) x + torques that are not fitted.

    Attributes
    ----------
    robot : Robot
        Geometry, and values before the fit.
    terms : tuple of str
        Terms that are fitted besides the inertias, with one parameter per joint: some of "viscous" (times v), "coulomb"
        (times the sign of v), "armature" (times a) and "offset" (constant).
    joints : tuple of JointInfo
        The joints with these terms: all but mimic and floating joints.
    names : tuple of str
        Names of the parameters: "m(hand)", "viscous(elbow)".
    """

    robot: Robot
    terms: tuple[str, ...]
    joints: tuple[JointInfo, ...]
    names: tuple[str, ...]

    @property
    def inertial(self) -> int:
        """Number of inertial parameters, which come first: ten for each moving link."""
        return 10 * len(self.robot.parameter_links)

    @check_types
    def indices(self, term: str) -> slice:
        """Return the indices of the parameters of one term in x.

        Parameters
        ----------
        term : str

        Returns
        -------
        slice
        """
        start = self.inertial + self.terms.index(term) * len(self.joints)
        return slice(start, start + len(self.joints))

    def prior(self) -> Array:
        """Return the values (p,) of the robot before the fit; offsets are 0."""
        own = {"viscous": self.robot.damping, "coulomb": self.robot.friction, "armature": self.robot.armature}
        first = [joint.v.start for joint in self.joints]
        parts = [own[term][first] if term in own else np.zeros(len(first)) for term in self.terms]
        return np.concatenate([self.robot.inertial_parameters, *parts])

    def regressor(self, q: Array, v: Array, a: Array, *, slip: float = 0.0) -> Array:
        """Compute the regressor Y.

        Parameters
        ----------
        q : (..., nq)
        v, a : (..., nv)
        slip : float
            If above 0 [rad/s or m/s], dry friction is tanh(v / slip), which can be differentiated, else sign(v).

        Returns
        -------
        (..., nv, p)
        """
        inertial = dynamics.regressor(self.robot, q, v, a)
        sign = np.tanh(v / slip) if slip > 0.0 else np.sign(v)
        signals = {"viscous": v, "coulomb": sign, "armature": a, "offset": np.ones_like(v)}
        Y = np.zeros((*inertial.shape[:-1], len(self.names)))
        Y[..., : self.inertial] = inertial
        for term in self.terms:
            for column, joint in enumerate(self.joints, start=self.indices(term).start):
                Y[..., joint.v, column] = signals[term][..., joint.v]
        return Y

    @check_types
    def known_torques(self, data: Measurements) -> Array:
        """Compute the torques that are not fitted: of wrenches, and of armature and damping not in `terms`.

        Parameters
        ----------
        data : Measurements

        Returns
        -------
        (n, nv)
        """
        v, a = data.rates()
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

    @check_types
    def predict(self, data: Measurements, x: Array) -> Array:
        """Compute the torques along a recording.

        Parameters
        ----------
        data : Measurements
        x : (p,)
            Parameters.

        Returns
        -------
        (n, nv)
        """
        tau = self.known_torques(data)
        for part in chunks(len(data), self.robot.nv):
            some = data[part]
            tau[part] += self.regressor(some.q, *some.rates()) @ x
        return tau


def chunks(samples: int, rows: int) -> list[slice]:
    """Divide samples into parts whose regressors fit into memory."""
    size = max(MAX_ROWS // max(rows, 1), 1)
    return [slice(start, min(start + size, samples)) for start in range(0, samples, size)]


def make_model(robot: Robot, terms: Sequence[str]) -> Model:
    """Check the terms and create the model."""
    require_robot(robot)
    if robot.nv == 0:
        raise InputError(f"{robot.name} has no moving joint; nothing can be identified")
    if isinstance(terms, str) or not isinstance(terms, Iterable) or not all(term in TERMS for term in map(str, terms)):
        raise InputError(f"terms must be some of {', '.join(map(repr, TERMS))}, in a tuple, got {terms!r}")
    kept = tuple(term for term in TERMS if term in terms)
    joints = tuple(joint for joint in robot.joints if joint.mimic is None and joint.kind != "floating")
    names = [f"{name}({link})" for link in robot.parameter_links for name in NAMES]
    names += [f"{term}({joint.name})" for term in kept for joint in joints]
    return Model(robot, kept, joints, tuple(names))
