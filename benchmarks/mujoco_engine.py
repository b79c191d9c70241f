"""MuJoCo as an engine of the benchmark: the stages for each result, without derivatives (finite differences only)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from mujoco_model import to_mujoco
from setups import COM, ENDS, FORWARD, INVERSE, JACOBIAN, MASS, Array, Setup
from timing import Run, loop


class MuJoCo:
    """MuJoCo's functions on one robot; writing the state into its data belongs to a call."""

    def __init__(self, setup: Setup, model: mujoco.MjModel) -> None:
        self.setup, self.model, self.data = setup, model, mujoco.MjData(model)
        self.states, self.X = to_mujoco(setup.states, floating=setup.floating)
        self.site = model.site(setup.hand).id
        self.jacobian_rows = np.zeros((2, 3, model.nv))
        self.mass_rows = np.zeros((model.nv, model.nv))
        self.functions: dict[str, Callable[..., Any]] = {
            ENDS: self.kinematics,
            JACOBIAN: self.jacobian,
            COM: self.com,
            INVERSE: self.inverse,
            MASS: self.mass_matrix,
            FORWARD: self.forward,
        }

    def single(self, function: str) -> Run:
        """Return a run that calls `function` once per state."""
        names = self.setup.parts(function)
        return loop(self.functions[function], *(list(self.states[name]) for name in names))

    def kinematics(self, q: Array) -> None:
        self.data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self.data)

    def com(self, q: Array) -> None:
        self.kinematics(q)
        mujoco.mj_comPos(self.model, self.data)

    def jacobian(self, q: Array) -> None:
        self.com(q)
        mujoco.mj_jacSite(self.model, self.data, *self.jacobian_rows, self.site)

    def mass_matrix(self, q: Array) -> None:
        self.com(q)
        mujoco.mj_makeM(self.model, self.data)
        mujoco.mj_fullM(self.model, self.data, self.mass_rows)

    def inverse(self, q: Array, v: Array, a: Array) -> None:
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = q, v, a
        mujoco.mj_inverse(self.model, self.data)

    def forward(self, q: Array, v: Array, tau: Array) -> None:
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(self.model, self.data)

    def value(self, function: str, index: int) -> list[Array]:
        """Compute `function` for one state and bring it to kinodyn's conventions (`X` maps velocities to MuJoCo's)."""
        self.functions[function](*(self.states[name][index] for name in self.setup.parts(function)))
        X = self.X[index]
        read: dict[str, Callable[[], Array]] = {
            ENDS: self.site_poses,
            JACOBIAN: lambda: self.jacobian_rows.reshape(6, -1) @ X,
            COM: lambda: self.data.subtree_com[0],
            INVERSE: lambda: X.T @ self.data.qfrc_inverse,
            MASS: lambda: X.T @ self.mass_rows @ X,
            FORWARD: lambda: self.acceleration(index),
        }
        return [read[function]()]

    def site_poses(self) -> Array:
        """Stack the poses `(ends, 4, 4)` of the end effectors."""
        poses = np.tile(np.eye(4), (len(self.setup.ends), 1, 1))
        for pose, name in zip(poses, self.setup.ends, strict=True):
            pose[:3, :3] = self.data.site(name).xmat.reshape(3, 3)
            pose[:3, 3] = self.data.site(name).xpos
        return poses

    def acceleration(self, index: int) -> Array:
        """Turn the world's acceleration of the base origin into the rate of its twist in the base frame."""
        a = np.array(self.X[index].T @ self.data.qacc)
        if self.setup.floating:
            v = self.setup.states["v"][index]
            a[:3] -= np.cross(v[3:6], v[:3])
        return a
