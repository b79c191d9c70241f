"""Contacts in the layout of the core, kept from one solve to the next: only changes are written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.control.cones import NOMINAL_LENGTH, Patch, patch
from kinodyn.control.contact_setpoint import ContactSetpoint
from kinodyn.dynamics.contact import Contact, Loop
from kinodyn.dynamics.contact.constraints import DIRECTIONS
from kinodyn.layouts import block_size, layout, named_view


class ContactBlock:
    """The fields of one contact, by name, among the numbers of all contacts."""

    def __init__(self, setpoint: ContactSetpoint, offset: int, q: Array) -> None:
        self.setpoint, self.offset = setpoint, offset
        contact = setpoint.contact
        self.touches = isinstance(contact, Contact)
        if setpoint.patch is None:
            setpoint.patch = _patch_of(setpoint, q)
        self.patch = setpoint.patch
        self.directions = bin(self.patch.mask).count("1")
        self._dtype = layout("contact", cone_rows=len(self.patch.cone), directions=self.directions)
        self.size = block_size(self._dtype)
        self.version = -1

    def write_entry(self, entry: np.void) -> None:
        """Fill the entry of the core's table."""
        entry["frame"], entry["other"], entry["mask"] = self.setpoint.frame, self.setpoint.other, self.patch.mask
        entry["directions"], entry["cone_rows"] = self.directions, len(self.patch.cone)
        entry["touches"], entry["offset"] = self.touches, self.offset

    def constraint_names(self) -> list[tuple[str, str]]:
        """Name its inequalities, with their units."""
        if not self.touches:
            return []
        cone = [(f"force cone of {self.setpoint.name}", "N")] * len(self.patch.cone)
        return [*cone, (f"normal force of {self.setpoint.name}", "N")]

    def batch(self) -> tuple[int, ...]:
        """Return the batch shape of target and desired force."""
        target, force = self.setpoint.target, self.setpoint.force
        shapes = [() if target is None else target.shape[:-2], () if force is None else force.shape[:-1]]
        return np.broadcast_shapes(*shapes) if any(shapes) else ()

    def write(self, numbers: Array) -> None:
        """Write everything to numbers (..., size of all contacts)."""
        setpoint, shape = self.setpoint, self.patch
        fields = named_view(numbers[..., self.offset : self.offset + self.size], self._dtype)
        stiffness, damping = setpoint.stabilise
        fields["active"], fields["weight"], fields["length"] = setpoint.active, setpoint.weight, shape.length
        fields["place_p"], fields["place_R"], fields["cone"] = shape.p, shape.R, shape.cone
        fields["stiffness"], fields["damping"] = stiffness, damping
        if isinstance(setpoint.contact, Loop):
            T = setpoint.contact.T_other
            fields["target_p"], fields["target_R"] = T[:3, 3], T[:3, :3]
        else:
            self._write_touching(fields, setpoint.contact)
        self.version = setpoint.version

    def _write_touching(self, fields: np.ndarray, contact: Contact) -> None:
        setpoint = self.setpoint
        if setpoint.target is None:
            fields["stiffness"] = 0.0
        T = np.eye(4) if setpoint.target is None else setpoint.target
        R = T[..., :3, :3]
        fields["target_p"], fields["target_R"] = T[..., :3, 3] + R @ self.patch.p, R @ self.patch.R
        fields["normal"], fields["point"] = contact.normal, contact.point
        fields["minimum"], fields["maximum"] = setpoint.force_bounds
        fields["desired_force"] = 0.0
        if setpoint.force is not None:
            fields["desired_force"][..., : setpoint.force.shape[-1]] = setpoint.force


def _patch_of(setpoint: ContactSetpoint, q: Array) -> Patch:
    contact = setpoint.contact
    if isinstance(contact, Contact):
        R = kinematics.pose(setpoint.robot, q.reshape(-1, q.shape[-1])[0], contact.frame)[:3, :3]
        return patch(contact, contact.normal @ R)
    mask = sum(1 << DIRECTIONS.index(name) for name in contact.directions)
    return Patch(
        mask=mask,
        p=contact.T_frame[:3, 3],
        R=contact.T_frame[:3, :3],
        length=NOMINAL_LENGTH,
        cone=np.zeros((0, bin(mask).count("1"))),
    )


class ContactTable:
    """The entries of contacts and loops, and their numbers."""

    def __init__(self, setpoints: Sequence[ContactSetpoint], q: Array) -> None:
        self.blocks: list[ContactBlock] = []
        self.entries = np.zeros(len(setpoints), dtype=layout("contact_entry"))
        size = 0
        for setpoint, entry in zip(setpoints, self.entries, strict=True):
            block = ContactBlock(setpoint, size, q)
            block.write_entry(entry)
            self.blocks.append(block)
            size += block.size
        self.numbers: Array = np.zeros(max(size, 1))

    def outdated(self) -> bool:
        """Return whether the patch of a contact has changed since the table was made."""
        return any(block.patch is not block.setpoint.patch for block in self.blocks)

    def update(self) -> None:
        """Update the numbers."""
        changed = [block for block in self.blocks if block.version != block.setpoint.version]
        if not changed:
            return
        if self.numbers.ndim > 1 or any(block.batch() for block in changed):
            batch = np.broadcast_shapes(*(block.batch() for block in self.blocks))
            if self.numbers.shape[:-1] != batch:
                self.numbers = np.zeros((*batch, self.numbers.shape[-1]))
                changed = self.blocks
        for block in changed:
            block.write(self.numbers)
