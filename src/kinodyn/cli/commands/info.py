"""kinodyn info: properties of a robot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kinodyn.cli import args
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, RobotName
from kinodyn.cli.result import CommandResult, Table

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot


@command("info", examples=["kinodyn info humanoid", "kinodyn info panda --base floating --json"], without=("plot",))
def info(robot: RobotName, base: Base = None) -> CommandResult:
    """Show the properties of a robot: dimensions, mass, joints with limits, frames, named configurations."""
    loaded = args.load(robot, base)
    joints = [_joint(loaded, k) for k in range(len(loaded.joints))]
    result = {
        "name": loaded.name,
        "base": loaded.base,
        "nq": loaded.nq,
        "nv": loaded.nv,
        "mass": loaded.mass,
        "fixed_mass": _fixed_mass(loaded),
        "links": len(loaded.description.links),
        "frames": list(loaded.frame_names),
        "configurations": list(loaded.configurations),
        "end_effectors": dict(loaded.description.end_effectors),
        "chains": {name: list(chain) for name, chain in loaded.description.chains.items()},
        "gravity": loaded.gravity,
        "joints": joints,
    }
    columns = ("name", "kind", "lower", "upper", "velocity", "effort", "child")
    units = "lower, upper [rad, m], velocity [rad/s, m/s], effort [N m, N]"
    rows = [[joint[key] for key in columns] for joint in joints]
    figures = [
        ("base", loaded.base),
        ("nq, nv", f"{loaded.nq}, {loaded.nv}"),
        ("mass that moves [kg]", loaded.mass),
        ("mass of links fixed to the world [kg]", _fixed_mass(loaded)),
        ("links, frames", f"{len(loaded.description.links)}, {len(loaded.frame_names)}"),
        ("configurations", ", ".join(loaded.configurations) or "none"),
        ("frames", _first(loaded.frame_names)),
    ]
    return CommandResult(
        f"{loaded.name}: {len(joints)} moving joint{'s' * (len(joints) != 1)}, {_masses(loaded)}",
        result,
        {"robot": robot, "base": base},
        [Table("", ("", ""), figures), Table(f"joints: {units}", columns, rows, 200)],
        samples={key: np.array([joint[key] for joint in joints]) for key in (*columns, "parent")},
    )


def _fixed_mass(robot: Robot) -> float:
    """Return the mass of the links that do not move [kg]: `Robot.mass` leaves them out."""
    masses = [link.inertia.mass for link in robot.description.links if link.inertia is not None]
    fixed = math.fsum(masses) - robot.mass
    return fixed if fixed > 1e-9 * robot.mass else 0.0


def _masses(robot: Robot) -> str:
    fixed = _fixed_mass(robot)
    return f"{robot.mass:.4g} kg" + (f" that move, {fixed:.4g} kg fixed to the world" if fixed else "")


def _joint(robot: Robot, k: int) -> dict[str, Any]:
    joint = robot.joints[k]
    described = next(other for other in robot.description.joints if other.name == joint.name)
    return {
        "name": joint.name,
        "kind": joint.kind if joint.mimic is None else f"{joint.kind}, follows {joint.mimic.joint}",
        "parent": joint.parent,
        "child": joint.child,
        "lower": described.lower,
        "upper": described.upper,
        "velocity": described.velocity,
        "effort": described.effort,
        "q": [joint.q.start, joint.q.stop],
        "v": [joint.v.start, joint.v.stop],
    }


def _first(names: tuple[str, ...], count: int = 12) -> str:
    return ", ".join(names[:count]) + (f" and {len(names) - count} more" if len(names) > count else "")
