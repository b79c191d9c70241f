"""kinodyn check: validate a robot description."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kinodyn.cli.command import command
from kinodyn.cli.options import Base, RobotName, option
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import DescriptionError, DescriptionWarning

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot


@command("check", examples=["kinodyn check humanoid", "kinodyn check panda --strict --json"], without=("plot",))
def check(
    robot: RobotName,
    base: Base = None,
    strict: Annotated[bool, option("treat warnings as errors", "--strict")] = False,
) -> CommandResult:
    """Validate a robot description: names, tree, placements, limits, masses, inertias, forward dynamics.

    Errors name file, line and element. The exit code is 1 if there is an error, with --strict also for a warning.
    """
    findings: list[dict[str, Any]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DescriptionWarning)
        try:
            loaded = _load(robot, base)
        except DescriptionError as error:
            loaded = None
            findings.append({"level": "error", "text": str(error), "line": error.line, "element": error.element})
    findings += [
        {"level": "warning", "text": str(finding.message), "line": None, "element": None} for finding in caught
    ]
    if loaded is not None:
        findings += [{"level": level, "text": text, "line": None, "element": None} for level, text in _inspect(loaded)]
    levels = ("error", "warning") if strict else ("error",)
    errors = [finding for finding in findings if finding["level"] in levels]
    name = robot if loaded is None else loaded.name
    title = f"{name}: " + (f"{len(errors)} of {len(findings)} findings are errors" if errors else "valid")
    rows = [(finding["level"], finding["text"]) for finding in findings]
    return CommandResult(
        title,
        {"usable": loaded is not None, "findings": findings},
        {"robot": robot, "base": base, "strict": strict},
        [Table("", ("level", "finding"), rows)] if rows else [],
        samples={"level": np.array([row[0] for row in rows]), "text": np.array([row[1] for row in rows])},
        ok=not errors,
    )


def _load(name: str, base: Any) -> Robot:
    import kinodyn as kd

    return kd.load(name, base=base)


def _inspect(robot: Robot) -> list[tuple[str, str]]:
    """Check a robot that loads for what still limits its use."""
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
        found.append(("warning", f"forward dynamics is not possible: {error}"))
    revolute = [joint.name for joint in robot.joints if joint.kind == "revolute" and joint.mimic is None]
    without = [name for name in revolute if not np.isfinite(robot.limits.effort[robot.joint(name).v]).all()]
    if without:
        found.append(("note", f"{len(without)} joints have no torque limit: {', '.join(without[:4])}"))
    if not robot.configurations:
        found.append(("note", "the description has no named configuration; 'neutral' and 'random' always exist"))
    return found
