"""kinodyn check: find the faults of a robot description, and repair them on request."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kinodyn.cli import terminal
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, RobotName, option
from kinodyn.cli.result import CommandResult, Table
from kinodyn.description.repair import Finding, Report
from kinodyn.errors import DescriptionError, DescriptionWarning, InputError
from kinodyn.tables import check_writable

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot

STEPS = 1000  # of the simulation that tries a repaired file

Findings = list[Finding]


@command(
    "check",
    examples=[
        "kinodyn check humanoid",
        "kinodyn check panda --strict --json",
        "kinodyn check romeo_small --repair mended.urdf --density 800",
    ],
    without=("plot",),
)
def check(
    robot: RobotName,
    base: Base = None,
    strict: Annotated[bool, option("treat warnings as errors", "--strict")] = False,
    repair: Annotated[
        Path | None, option("write the file with all proposed repairs, and no other change, to this file")
    ] = None,
    density: Annotated[float, option("density of shapes whose mass is missing [kg/m^3]")] = 1000.0,
    packages: Annotated[list[str] | None, option("folder of the packages of package:// URIs; repeatable")] = None,
) -> CommandResult:
    """Find the faults of a robot file: names, tree, placements, limits, masses, inertias, meshes, dynamics.

    Each finding has its line and, where there is one, a proposed repair with its reason. Nothing is written unless
    --repair names a file; that file is then loaded and simulated in MuJoCo for 1,000 steps. With --base floating the
    root needs an inertia too.

    The exit code is 1 if there is an error, with --strict also for a warning; with --repair, if the repaired file still
    has one or cannot be simulated. It is 2 if the file does not exist or cannot be written.
    """
    file = _file_of(robot)
    if repair is not None:
        _check_destination(file, repair, robot)
    findings, loaded, report = _findings(robot, base, file, repair, density, packages or [])
    remaining = findings if report is None or repair is None else list(report.remaining)
    notes: list[str] = []
    if report is not None and repair is not None and report.repaired is not None:
        remaining = remaining + _written(report, repair, base, packages or [], notes)
    levels = ("error", "warning") if strict else ("error",)
    errors = [finding for finding in remaining if finding.level in levels]
    name = robot if loaded is None else loaded.name
    return CommandResult(
        _title(name, findings, errors, repair),
        {
            "usable": loaded is not None,
            "findings": [_row(finding) for finding in findings],
            "remaining": [_row(finding) for finding in remaining] if repair is not None else [],
            "written": str(repair) if notes else None,
        },
        {"robot": robot, "base": base, "strict": strict, "density": density},
        _tables(findings, [] if repair is None else remaining),
        samples={
            key: np.array([str(_row(one)[key] or "") for one in findings])
            for key in ("level", "line", "text", "repair")
        },
        notes=notes or _advice(findings, file),
        ok=not errors,
    )


def _title(name: str, findings: Findings, errors: Findings, repair: Path | None) -> str:
    if repair is not None:
        count = sum(bool(finding.repair) for finding in findings)
        return f"{name}: {count} of {len(findings)} findings repaired" + (
            f", {len(errors)} errors left" if errors else ""
        )
    return f"{name}: " + (f"{len(errors)} of {len(findings)} findings are errors" if errors else "valid")


def _row(finding: Finding) -> dict[str, Any]:
    text = f"<{finding.element}>: {finding.message}" if finding.element else finding.message
    return {
        "level": finding.level,
        "text": text,
        "line": finding.line,
        "element": finding.element or None,
        "repair": finding.repair or None,
    }


def _tables(findings: Findings, remaining: Findings) -> list[Table]:
    tables = []
    for title, rows in (("", findings), ("left after the repair", remaining)):
        cells = [("" if one.line is None else one.line, one.level, _row(one)["text"], one.repair) for one in rows]
        if cells:
            tables.append(Table(title, ("line", "level", "finding", "proposed repair"), cells, max_rows=len(cells)))
    return tables


def _advice(findings: Findings, file: Path | None) -> list[str]:
    count = sum(bool(finding.repair) for finding in findings)
    if file is None or not count:
        return []
    return [f"{count} findings have a repair; write them with: kinodyn check {file} --repair repaired{file.suffix}"]


def _file_of(robot: str) -> Path | None:
    """Return the file of a robot, None for one that is bundled or not known."""
    import kinodyn as kd
    from kinodyn.description.catalogue import file_of, is_known

    known = file_of(robot)
    if known is None and not is_known(robot) and not Path(robot).is_file():
        kd.load(robot)  # says what is wrong with the name or path
    return known if known is not None else Path(robot) if Path(robot).is_file() else None


def _check_destination(file: Path | None, repair: Path, robot: str) -> None:
    if file is None:
        raise InputError(f"--repair is for files, but {robot!r} has none")
    if file.suffix.lower() == ".xacro":
        raise InputError("--repair is for URDF and MJCF files; expand the xacro file first")
    check_writable(repair, (file.suffix.lower(),))
    if repair.exists() and repair.samefile(file):
        raise InputError(f"--repair {repair} is the checked file itself; give another name")


def _findings(
    robot: str, base: Any, file: Path | None, repair: Path | None, density: float, packages: list[str]
) -> tuple[Findings, Robot | None, Report | None]:
    """Return the findings of the rules, further warnings of loading, and what limits the use of the robot."""
    import kinodyn as kd

    report = None
    if file is not None and file.suffix.lower() != ".xacro":
        report = kd.description.check(file, base=base, packages=packages, density=density, destination=repair)
    findings = [] if report is None else list(report.findings)
    loaded = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DescriptionWarning)
        try:
            loaded = kd.load(robot, base=base, packages=packages)
        except DescriptionError as error:
            if report is None or report.valid:
                findings.append(Finding("error", error.message, error.line, error.element or ""))
    known = set() if report is None else _reader_warnings(file, packages)
    findings += [
        Finding("warning", text)
        for text in dict.fromkeys(part for one in caught for part in _parts(one.message))
        if text not in known
    ]
    return findings + ([] if loaded is None else _inspect(loaded)), loaded, report


def _parts(warning: Warning | str) -> tuple[str, ...]:
    """Return the messages that a warning joins."""
    return warning.parts if isinstance(warning, DescriptionWarning) else (str(warning),)


def _reader_warnings(file: Path | None, packages: list[str]) -> set[str]:
    """Return the warnings of reading the file alone: the report has a finding for each link or joint instead."""
    from kinodyn.description import read_urdf

    with warnings.catch_warnings(record=True) as caught, suppress(DescriptionError):  # also of MJCF, without warnings
        warnings.simplefilter("always", DescriptionWarning)
        read_urdf(str(file), packages=packages)
    return {str(warning.message) for warning in caught}


def _written(report: Report, path: Path, base: Any, packages: list[str], notes: list[str]) -> Findings:
    """Write the repaired file and try it; return what is still wrong."""
    import kinodyn as kd

    report.write(path)
    notes.append(f"written: {path}, {len(report.repairs)} repairs")
    if report.description is None:
        return []
    terminal.say(f"{path}: simulating {STEPS} steps in MuJoCo", "dim")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        try:
            kd.load(path, base=base, packages=packages)
            finite = _simulate(kd.Robot(report.description, base=base))
        except kd.KinodynError as error:
            return [Finding("error", f"it cannot be simulated: {error}")]
    if not finite:
        return [Finding("error", f"the simulation diverged within {STEPS} steps")]
    notes.append(f"it loads, and MuJoCo simulated {STEPS} steps of 1 ms")
    return []


def _simulate(robot: Robot) -> bool:
    """Simulate the robot in MuJoCo without torques and contacts; return whether its state stays finite."""
    import mujoco

    import kinodyn as kd

    model = kd.sim.to_mujoco(robot, contacts=False)
    data = mujoco.MjData(model)
    limited = np.flatnonzero(model.jnt_limited)
    places = model.jnt_qposadr[limited]
    data.qpos[places] = np.clip(data.qpos[places], *model.jnt_range[limited].T)
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
    unstable = data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number
    return bool(np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all() and not unstable)


def _inspect(robot: Robot) -> Findings:
    """Check a robot that loads for what still limits its use."""
    from kinodyn import dynamics, kinematics
    from kinodyn.errors import SingularError
    from kinodyn.kinematics import validation

    found: Findings = []
    q = robot.random(3, seed=0)
    frame = robot.frame_names[-1]
    report = validation.reaches(robot, q, kinematics.pose(robot, q, frame), frame, tolerance=1e-9, angle_tolerance=1e-7)
    if not np.asarray(report.ok).all():
        found.append(Finding("error", f"forward kinematics of {frame!r} disagrees with the description"))
    try:
        dynamics.forward(robot, q, np.zeros(robot.nv), np.zeros(robot.nv))
    except SingularError as error:
        found.append(Finding("warning", f"forward dynamics is not possible: {error}"))
    revolute = [joint.name for joint in robot.joints if joint.kind == "revolute" and joint.mimic is None]
    without = [name for name in revolute if not np.isfinite(robot.limits.effort[robot.joint(name).v]).all()]
    if without:
        found.append(Finding("note", f"{len(without)} joints have no torque limit: {', '.join(without[:4])}"))
    if not robot.configurations:
        found.append(Finding("note", "the description has no named configuration; 'neutral' and 'random' always exist"))
    return found
