"""kinodyn check: is this file a robot that can exist?"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kinodyn.cli.answer import Answer, Table
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, RobotName, option
from kinodyn.errors import DescriptionError, DescriptionWarning

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot


@command("check", examples=["kinodyn check humanoid", "kinodyn check panda --strict --json"], without=("plot",))
def check(
    robot: RobotName,
    base: Base = None,
    strict: Annotated[bool, option("what is doubtful counts as wrong", "--strict")] = False,
) -> Answer:
    """Check a robot's file: names, tree, placements, limits, masses and inertias, and whether it can move.

    Errors come with file, line and element. The exit code is 1 if there is one, or with --strict if anything is
    doubtful.
    """
    findings: list[dict[str, Any]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DescriptionWarning)
        try:
            loaded = _load(robot, base)
        except DescriptionError as error:
            loaded = None
            findings.append({"level": "error", "text": str(error), "line": error.line, "element": error.element})
    findings += [{"level": "doubtful", "text": str(one.message), "line": None, "element": None} for one in caught]
    if loaded is not None:
        findings += [{"level": level, "text": text, "line": None, "element": None} for level, text in _looks(loaded)]
    bad = [one for one in findings if one["level"] == "error" or (strict and one["level"] == "doubtful")]
    name = robot if loaded is None else loaded.name
    title = f"{name}: " + (f"{len(bad)} of {len(findings)} findings are wrong" if bad else "can be used")
    rows = [(one["level"], one["text"]) for one in findings]
    return Answer(
        title,
        {"usable": loaded is not None, "findings": findings},
        {"robot": robot, "base": base, "strict": strict},
        [Table("", ("level", "finding"), rows)] if rows else [],
        samples={"level": np.array([row[0] for row in rows]), "text": np.array([row[1] for row in rows])},
        good=not bad,
    )


def _load(name: str, base: Any) -> Robot:
    import kinodyn as kd

    return kd.load(name, base=base)


def _looks(robot: Robot) -> list[tuple[str, str]]:
    """Look at a robot that loads: what would surprise whoever computes with it."""
    from kinodyn import dynamics, kinematics
    from kinodyn.errors import SingularError
    from kinodyn.kinematics import validation

    found: list[tuple[str, str]] = []
    q = robot.random(3, seed=0)
    frame = robot.frame_names[-1]
    report = validation.reaches(robot, q, kinematics.pose(robot, q, frame), frame, tolerance=1e-9, angle_tolerance=1e-7)
    if not np.asarray(report.ok).all():
        found.append(("error", f"forward kinematics of {frame!r} disagrees with the description"))
    try:
        dynamics.forward(robot, q, np.zeros(robot.nv), np.zeros(robot.nv))
    except SingularError as error:
        found.append(("doubtful", f"forward dynamics is not possible: {error}"))
    loose = [joint.name for joint in robot.joints if joint.kind == "revolute" and joint.mimic is None]
    without = [name for name in loose if not np.isfinite(robot.limits.effort[robot.joint(name).v]).all()]
    if without:
        found.append(("note", f"{len(without)} joints have no torque limit: {', '.join(without[:4])}"))
    if not robot.configurations:
        found.append(("note", "the description names no configuration; 'neutral' and 'random' can be used"))
    return found
