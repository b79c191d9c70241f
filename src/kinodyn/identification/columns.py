"""Names of the columns of a recording: q.<joint>, v.<joint>, a.<joint>, tau.<joint>, wrench.<frame>.fx."""

from __future__ import annotations

from dataclasses import dataclass

from kinodyn.model.robot import Robot

_POSITION = {
    "floating": (".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"),
    "ball": (".qx", ".qy", ".qz", ".qw"),
    "planar": (".x", ".y", ".angle"),
}
_RATE = {
    "floating": (".x", ".y", ".z", ".rx", ".ry", ".rz"),
    "ball": (".rx", ".ry", ".rz"),
    "planar": (".x", ".y", ".angle"),
}


@dataclass(frozen=True)
class Labels:
    """Names of the entries of q and of v: of the joint, with a suffix where it has several coordinates."""

    q: tuple[str, ...]
    v: tuple[str, ...]


def labels(robot: Robot) -> Labels:
    """Return names of the entries of q and v; those of a floating base are "root_joint.x" and so on."""
    joints = [joint for joint in robot.joints if joint.mimic is None]
    return Labels(
        tuple(joint.name + part for joint in joints for part in _POSITION.get(joint.kind, ("",))),
        tuple(joint.name + part for joint in joints for part in _RATE.get(joint.kind, ("",))),
    )


def groups(robot: Robot) -> dict[str, tuple[str, ...]]:
    """Return the labels of each group of columns."""
    names = labels(robot)
    return {"q": names.q, "v": names.v, "a": names.v, "tau": names.v}


def base_rows(robot: Robot) -> int:
    """Return the number of entries of tau without a motor: six for a floating base."""
    return 6 if robot.base == "floating" else 0
