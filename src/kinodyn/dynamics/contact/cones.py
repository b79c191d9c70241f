"""Friction cones of several contacts as rows for the stacked contact forces, and which of them limit a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.dynamics.contact import friction
from kinodyn.dynamics.contact.constraints import Constraint, Contact
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot


class Cones:
    """Rows C (..., m, forces) with C f <= 0 for forces that contacts can exert, in the order of `contact.jacobian`."""

    def __init__(
        self,
        robot: Robot,
        q: ArrayLike,
        contacts: Sequence[Constraint],
        soles: Mapping[str, tuple[float, float]],
        sides: int,
    ) -> None:
        surfaces = [c.name for c in contacts if isinstance(c, Contact) and c.kind == "surface"]
        for name in soles:
            if name not in surfaces:
                raise unknown_name("surface contact in soles", name, surfaces)
        total = sum(int(np.prod(contact.shape())) for contact in contacts)
        blocks: list[Array] = []
        self.kinds: list[tuple[str, str, slice, Array]] = []  # name, what a row prevents, its force, the normal
        start = 0
        for contact in contacts:
            size = int(np.prod(contact.shape()))
            if isinstance(contact, Contact):
                own = self._rows(robot, q, contact, soles, sides)
                block = np.zeros((*own.shape[:-1], total))
                block[..., start : start + size] = own
                blocks.append(block)
                self._name_rows(contact, own.shape[-2], start)
            start += size
        batch = np.broadcast_shapes(*(block.shape[:-2] for block in blocks)) if blocks else ()
        stretched = [np.broadcast_to(block, (*batch, *block.shape[-2:])) for block in blocks]
        self.rows: Array = np.concatenate(stretched, axis=-2) if blocks else np.zeros((0, total))

    def describe(self, active: NDArray[np.bool_], f: Array, load: float) -> list[str]:
        """Describe what the active rows (m,) prevent at forces f: contacts that would slide, tip, turn or lift."""
        found: list[str] = []
        for i in np.flatnonzero(active):
            name, what, place, normal = self.kinds[i]
            lifts = float(normal @ f[place]) <= 1e-6 * load
            word = f"{name} {'lifts' if lifts else what}"
            if word not in found:
                found.append(word)
        return found

    def _name_rows(self, contact: Contact, count: int, start: int) -> None:
        for i in range(count):
            if contact.kind == "surface":
                what = "slides" if i < 4 else "tips" if i < 8 else "turns"
                place = slice(start, start + 3)
            else:
                corner = i // (count // (1 if contact.corners is None else len(contact.corners)))
                what, place = "slides", slice(start + 3 * corner, start + 3 * corner + 3)
            self.kinds.append((contact.name, what, place, contact.normal))

    def _rows(
        self,
        robot: Robot,
        q: ArrayLike,
        contact: Contact,
        soles: Mapping[str, tuple[float, float]],
        sides: int,
    ) -> Array:
        if contact.kind == "surface":
            if contact.name not in soles:
                raise InputError(
                    f"contact {contact.name!r} is a surface of unknown size, which limits its moments; "
                    f'pass soles={{"{contact.name}": (half_x, half_y)}}, a Contact with corners, or friction=False'
                )
            half_x, half_y = soles[contact.name]
            return friction.wrench_cone(contact.friction, half_x, half_y, T=sole_pose(robot, q, contact))
        rows = friction.pyramid(contact.friction, contact.normal, sides=sides)
        count = 1 if contact.corners is None else len(contact.corners)
        return np.asarray(np.kron(np.eye(count), rows), dtype=np.float64)


def sole_pose(robot: Robot, q: ArrayLike, contact: Contact) -> Array:
    """Compute the orientation (..., 4, 4) of a sole in the world: z along the normal, x as that of its frame."""
    x = kinematics.pose(robot, q, contact.frame)[..., :3, 0]
    n = contact.normal
    x = x - (x @ n)[..., None] * n
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    if not (length > 1e-3).all():
        raise InputError(
            f"the x axis of {contact.frame!r} is along the normal of contact {contact.name!r}: its sole stands on "
            "edge; give a Contact with corners"
        )
    T = np.zeros((*x.shape[:-1], 4, 4))
    T[..., 3, 3] = 1.0
    T[..., :3, 0] = x / length
    T[..., :3, 1] = np.cross(n, T[..., :3, 0])
    T[..., :3, 2] = n
    return T
