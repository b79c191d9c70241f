"""Fast reading of MuJoCo's state and contact wrenches, at every control tick."""

from __future__ import annotations

import mujoco as mj
import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.model.convert import Converter
from kinodyn.model.convert.blocks import MujocoBall, MujocoFree
from kinodyn.model.robot import Robot
from kinodyn.sim.common import cross

Indices = NDArray[np.int_]


class StateReader:
    """Reads q and v. Where MuJoCo has the same numbers in another order, they are copied by an index array."""

    def __init__(self, robot: Robot, converter: Converter) -> None:
        self._converter = converter
        self._free: MujocoFree | None = None
        self._order: tuple[Indices, Indices] | None = None
        blocks = converter.blocks
        if all(isinstance(block, MujocoBall | MujocoFree) for block in blocks):
            self._order = _order(robot, converter)
            self._free = next((block for block in blocks if isinstance(block, MujocoFree)), None)

    def __call__(self, data: mj.MjData) -> tuple[Array, Array]:
        """Return q (nq,) and v (nv,), new arrays."""
        if self._order is None:
            q = self._converter.q_from(data.qpos.copy())
            return q, self._converter.v_from(q, data.qvel)
        q, v = data.qpos[self._order[0]], data.qvel[self._order[1]]
        if self._free is not None:
            linear = v[self._free.v][:3]  # a view
            linear[:] = _rotate_back(q[self._free.q][3:].tolist(), *linear.tolist())
        return q, v


def _order(robot: Robot, converter: Converter) -> tuple[Indices, Indices]:
    """Find the index of each of our coordinates in MuJoCo's qpos and qvel."""
    q, v = np.zeros(robot.nq, dtype=int), np.zeros(robot.nv, dtype=int)
    scalars = converter.scalars
    q[scalars.own_q], v[scalars.own_v] = scalars.their_own_q, scalars.their_own_v
    for block in converter.blocks:
        places = np.arange(converter.nq, dtype=float)[block.their_q]
        q[block.q] = block.q_from(places).astype(int)
        v[block.v] = np.arange(converter.nv)[block.their_v]
    return q, v


def _rotate_back(quaternion: list[float], a: float, b: float, c: float) -> tuple[float, float, float]:
    """Rotate a vector from world to body axes, R^T (a, b, c)."""
    x, y, z, w = quaternion
    return (
        (1 - 2 * (y * y + z * z)) * a + 2 * (x * y + z * w) * b + 2 * (x * z - y * w) * c,
        2 * (x * y - z * w) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z + x * w) * c,
        2 * (x * z + y * w) * a + 2 * (y * z - x * w) * b + (1 - 2 * (x * x + y * y)) * c,
    )


class ContactWrenches:
    """The contacts of the last step: the two moving bodies of each (k, 2), and the wrench (k, 6) on the second.

    Wrenches are in world axes, about the world origin.
    """

    def __init__(self, model: mj.MjModel, data: mj.MjData) -> None:
        contact, count = data.contact, data.ncon
        local = np.zeros((count, 6))
        for k in range(count):
            mj.mj_contactForce(model, data, k, local[k])
        axes = contact.frame.reshape(-1, 3, 3)  # rows: normal, two tangents
        world = (local.reshape(-1, 2, 3) @ axes).reshape(-1, 6)
        world[:, 3:] += cross(contact.pos, world[:, :3])
        self.bodies, self.wrenches = model.body_weldid[model.geom_bodyid[contact.geom]], world

    def on(self, bodies: Indices, origins: Array) -> Array:
        """Sum the wrenches (n, 6) on bodies (n,) about points (n, 3)."""
        first, second = self.bodies[:, 0], self.bodies[:, 1]
        sign = (second == bodies[:, None]).astype(float) - (first == bodies[:, None])
        total: Array = sign @ self.wrenches
        total[:, 3:] -= cross(origins, total[:, :3])
        return total
