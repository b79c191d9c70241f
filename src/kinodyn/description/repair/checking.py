"""Check a robot file and propose repairs."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from kinodyn.argument_types import check_types
from kinodyn.checks import as_path, positive
from kinodyn.description.base import Base, check_base
from kinodyn.description.packages import PackageDirs, PackageFinder
from kinodyn.description.repair import urdf_values
from kinodyn.description.repair.document import Document
from kinodyn.description.repair.findings import Finding, Findings, Report
from kinodyn.description.repair.urdf_inertias import InertiaRepair
from kinodyn.description.repair.urdf_joints import repair_joints
from kinodyn.description.repair.urdf_meshes import repair_meshes
from kinodyn.description.repair.urdf_tree import repair_tree
from kinodyn.description.types import Description
from kinodyn.description.urdf import parse_urdf
from kinodyn.description.xacro import find_xacro, xacro_not_allowed
from kinodyn.description.xml_tree import Node
from kinodyn.errors import DescriptionError, DescriptionWarning, InputError

DENSITY = 1000.0  # [kg/m^3], that of water, as in MuJoCo


@check_types
def check(
    source: str | os.PathLike[str],
    *,
    base: Base | None = None,
    packages: PackageDirs = (),
    density: float = DENSITY,
    destination: str | os.PathLike[str] | None = None,
) -> Report:
    """Find the faults of a URDF or MJCF file, and propose a repair of each where there is one.

    Nothing is written: `Report.write` does that.

    Parameters
    ----------
    source
        Path of the file.
    base
        "floating": the root moves too, so that it needs an inertia.
    packages
        Folders that contain the packages of `package://` URIs, as for `load`.
    density
        Density of shapes from which a mass is computed [kg/m^3].
    destination
        File to which the repaired text will be written, if not to the folder of the source: paths of meshes that would
        not be found from there are changed too.

    Returns
    -------
    report : Report

    Raises
    ------
    InputError
        If the file is not there.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kinodyn as kd
    >>> path = Path(tempfile.mkdtemp()) / "arm.urdf"
    >>> _ = path.write_text('''<robot name="arm"><link name="base"/><link name="rod"/>
    ... <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/>
    ... <limit lower="1" upper="-1" effort="5" velocity="2"/></joint></robot>''')
    >>> for finding in kd.description.check(path).findings:
    ...     print(finding.line, finding.level, finding.repair)
    1 warning a ball of 1 g and 1 cm; it has no shapes
    3 error lower="-1" upper="1", swapped
    """
    path = as_path("source", source)
    check_base(base)
    density = positive("density", density)
    target = path if destination is None else as_path("destination", destination)
    try:
        data = path.read_bytes()
    except OSError as cause:
        reason = "does not exist" if isinstance(cause, FileNotFoundError) else f"cannot be read ({cause.strerror})"
        raise InputError(f"{path} {reason}; give the path of a URDF or MJCF file") from cause
    try:
        document = Document(data, path)
        findings = Findings(document)
        description, remaining = _repair(findings, path, target, packages, density, base)
    except DescriptionError as error:
        return Report(path, (Finding("error", error.message, error.line, error.element or ""),))
    if not remaining and description is None:
        raise AssertionError("a text that cannot be read has a fault")
    return Report(path, findings.in_order(), document.text(), description, remaining, document.encoded())


def _repair(
    findings: Findings, path: Path, target: Path, packages: PackageDirs, density: float, base: Base | None
) -> tuple[Description | None, tuple[Finding, ...]]:
    root = findings.document.root
    if root.tag == "mujoco":
        from kinodyn.description.repair import mjcf  # MuJoCo is slow to import

        _reject_moved_includes(root, path, target)
        mjcf.repair_mjcf(findings, path, target, density)
        return mjcf.read_repaired(findings.document.text(), target)
    if root.tag != "robot":
        raise root.error(f"the root element is <{root.tag}>; a URDF file has <robot>, an MJCF file <mujoco>")
    xacro_element = find_xacro(root)
    if xacro_element is not None:
        raise xacro_not_allowed(path, xacro_element)
    urdf_values.repair_values(findings)
    repair_tree(findings)
    if not any(finding.level == "error" and not finding.repair for finding in findings.found):
        repair_joints(findings)
        repair_meshes(findings, path, packages, target)
        InertiaRepair(findings, PackageFinder(path, packages), density, base == "floating").run()
    given = (packages,) if isinstance(packages, (str, os.PathLike)) else packages
    return _read(findings, target, (*given, *Path(os.path.abspath(path)).parents))


def _reject_moved_includes(root: Node, path: Path, target: Path) -> None:
    moved = Path(os.path.abspath(target)).parent != Path(os.path.abspath(path)).parent
    if moved and next(root.all("include"), None) is not None:
        raise InputError(f"{path} includes other files, whose paths start at its folder; write {target.name} there")


def _read(findings: Findings, target: Path, packages: PackageDirs) -> tuple[Description | None, tuple[Finding, ...]]:
    """Read the repaired text; faults that are not known yet are added to the findings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DescriptionWarning)
        try:
            description = parse_urdf(findings.document.text(), file=target, packages=packages)
        except DescriptionError as error:
            left = Finding("error", error.message, error.line, error.element or "")
            if not any(finding.level == "error" and not finding.repair for finding in findings.found):
                findings.found.append(left)
            return None, (left,)
    return description, tuple(Finding("warning", str(warning.message)) for warning in caught)
