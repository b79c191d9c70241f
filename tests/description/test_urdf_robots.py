"""Every URDF file of the example-robot-data wheel, against Pinocchio."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from kinodyn.arrays import Array
from kinodyn.description.types import Description
from kinodyn.description.urdf import read_urdf
from kinodyn.errors import DescriptionError

LinkPoses = Callable[[Description, dict[str, tuple[float, ...]]], dict[str, Array]]

SHARE = next(
    path
    for path in (Path(entry, "cmeel.prefix/share/example-robot-data/robots") for entry in sys.path)
    if path.is_dir()
)

# Files that describe no robot that can exist, and what is wrong with each.
BROKEN = {
    "alex_description/urdf/alex_psyonic_hands.urdf": (
        1030,
        "mimics a joint that does not exist: unknown joint 'index_q1'",
    ),
    "romeo_description/urdf/romeo_laas_small.urdf": (327, "negative principal moment -0.0213"),
    "ur_description/urdf/ur3.urdf": (6, "has no attribute 'name'"),
}

# Revolute joints with effort and velocity but without positions: Pinocchio locks them at 0.
WITHOUT_STOPS = {"j_wheel_1", "j_wheel_2", "j_wheel_3", "j_wheel_4", "FL_KFE", "FR_KFE", "BL_KFE", "BR_KFE"}

FILES = sorted(str(path.relative_to(SHARE).as_posix()) for path in SHARE.rglob("*.urdf"))
ROBOTS = [name for name in FILES if name not in BROKEN]


def read(name: str) -> Description:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_urdf(SHARE / name)


def full_positions(description: Description, seed: int) -> dict[str, tuple[float, ...]]:
    """Draw a position in [-1, 1] for each moving joint; followers take theirs from their leader."""
    rng = np.random.default_rng(seed)
    by_name = {joint.name: joint for joint in description.joints}
    drawn = {name: float(rng.uniform(-1.0, 1.0)) for name in by_name}

    def position(name: str) -> float:
        mimic = by_name[name].mimic
        return drawn[name] if mimic is None else mimic.multiplier * position(mimic.joint) + mimic.offset

    return {name: (position(name),) for name, joint in by_name.items() if joint.kind != "fixed"}


def pinocchio_q(model: pin.Model, positions: dict[str, tuple[float, ...]]) -> Array:
    q = pin.neutral(model)
    for index in range(2, model.njoints):
        start, size = model.idx_qs[index], model.nqs[index]
        (value,) = positions[model.names[index]]
        q[start : start + size] = value if size == 1 else (np.cos(value), np.sin(value))
    return q


def test_all_files_of_the_wheel_are_present() -> None:
    assert len(ROBOTS) >= 60
    assert set(BROKEN) <= set(FILES)


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_with_an_error_is_rejected(name: str) -> None:
    line, said = BROKEN[name]
    with pytest.raises(DescriptionError) as caught:
        read(name)
    assert caught.value.line == line
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ROBOTS)
def test_link_masses_and_placements_agree_with_pinocchio(name: str, link_poses: LinkPoses) -> None:
    description = read(name)
    model = pin.buildModelFromUrdf(str(SHARE / name), pin.JointModelFreeFlyer())
    data = model.createData()
    positions = full_positions(description, seed=1)
    pin.ccrba(model, data, pinocchio_q(model, positions), np.zeros(model.nv))
    pin.updateFramePlacements(model, data)
    poses = link_poses(description, positions)

    bodies = {frame.name: index for index, frame in enumerate(model.frames) if frame.type == pin.FrameType.BODY}
    assert set(bodies) == set(poses)
    for link, T_root_link in poses.items():
        np.testing.assert_allclose(T_root_link, data.oMf[bodies[link]].homogeneous, atol=1e-12, err_msg=link)
    assert sum(joint.kind != "fixed" for joint in description.joints) == model.njoints - 2

    mass, com, inertia = whole_body(description, poses)
    np.testing.assert_allclose(mass, data.Ig.mass, rtol=1e-13)
    if mass > 0.0:
        np.testing.assert_allclose(com, data.com[0], atol=1e-12)
        np.testing.assert_allclose(inertia, data.Ig.inertia, atol=1e-10 * max(1.0, np.abs(inertia).max()))


def whole_body(description: Description, poses: dict[str, Array]) -> tuple[float, Array, Array]:
    """Add up all links: mass, centre of mass, and inertia about it in root axes."""
    parts = []
    for link in description.links:
        if link.inertia is not None:
            R = poses[link.name][:3, :3]
            centre = poses[link.name][:3, 3] + R @ link.inertia.com
            parts.append((link.inertia.mass, centre, R @ link.inertia.matrix @ R.T))
    mass = sum(part[0] for part in parts)
    com = sum((m * c for m, c, _ in parts), np.zeros(3)) / (mass or 1.0)
    total = np.zeros((3, 3))
    for m, c, matrix in parts:
        r = c - com
        total += matrix + m * (r @ r * np.eye(3) - np.outer(r, r))
    return mass, com, total


@pytest.mark.parametrize("name", ROBOTS)
def test_limits_and_friction_agree_with_pinocchio(name: str) -> None:
    model = pin.buildModelFromUrdf(str(SHARE / name))
    for joint in read(name).joints:
        if joint.kind not in ("revolute", "prismatic"):
            continue
        index = model.getJointId(joint.name)
        at_q, at_v = model.idx_qs[index], model.idx_vs[index]
        if joint.name not in WITHOUT_STOPS:
            assert joint.lower == model.lowerPositionLimit[at_q]
            assert joint.upper == model.upperPositionLimit[at_q]
        limits = model.upperVelocityLimit[at_v], model.upperEffortLimit[at_v]
        if not any(limits) and joint.lower < joint.upper:
            limits = np.inf, np.inf  # zeros of a joint that moves are unknown
        assert (joint.velocity, joint.effort) == limits
        assert joint.damping == model.damping[at_v]
        assert joint.friction == model.upperDryFrictionLimit[at_v]


@pytest.mark.parametrize("name", ROBOTS)
def test_every_mesh_is_found_by_the_upward_search(name: str) -> None:
    for link in read(name).links:
        for shape in (*link.visuals, *link.collisions):
            if shape.kind == "mesh":
                assert shape.mesh is not None, shape.uri
                assert shape.mesh.is_file()
                assert shape.mesh.name == Path(shape.uri).name
