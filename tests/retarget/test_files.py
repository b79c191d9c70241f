"""The same motion as SMPL, C3D and CSV gives the same key points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.retarget.keypoints import REQUIRED
from kinodyn.retarget.smpl import NAMES, PARENTS


def test_smpl_positions_are_read(tmp_path: Path) -> None:
    joints = np.random.default_rng(0).normal(size=(6, 24, 3))
    np.savez(tmp_path / "a.npz", joints=joints, mocap_framerate=120.0)
    motion = kd.retarget.read(tmp_path / "a.npz")
    assert motion.rate == 120.0 and motion.names == NAMES
    np.testing.assert_array_equal(motion.positions, joints[:, :22])


def test_smpl_rotations_with_offsets_are_composed(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    poses, trans, offsets = rng.normal(size=(5, 72)), rng.normal(size=(5, 3)), rng.normal(size=(22, 3))
    np.savez(tmp_path / "a.npz", poses=poses, trans=trans, offsets=offsets, fps=30)
    motion = kd.retarget.read(tmp_path / "a.npz")
    for t in range(5):
        world: list[Rotation] = []
        for k, parent in enumerate(PARENTS):
            own = Rotation.from_rotvec(poses[t, 3 * k : 3 * k + 3])
            if parent < 0:
                at, R = trans[t] + offsets[0], own
            else:
                at, R = motion.positions[t, parent] + world[parent].apply(offsets[k]), world[parent] * own
            world.append(R)
            np.testing.assert_allclose(motion.positions[t, k], at, atol=1e-9)


@pytest.mark.parametrize("gender", ["male", b"female", np.str_("neutral")])
@pytest.mark.parametrize("columns", [72, 156, 165])
def test_files_of_amass_get_the_bones_of_an_average_human(tmp_path: Path, columns: int, gender: object) -> None:
    poses = np.zeros((9, columns))
    poses[:, :3] = Rotation.from_euler("x", 90.0, degrees=True).as_rotvec()  # AMASS has z up, SMPL y
    poses[:, 3 * NAMES.index("L_Shoulder") + 2] = -0.5 * np.pi  # the arm hangs
    trans, betas = np.tile([1.0, 2.0, 0.9], (9, 1)), np.zeros(16)
    np.savez(tmp_path / "a.npz", poses=poses, trans=trans, betas=betas, gender=gender, mocap_framerate=120.0)
    motion = kd.retarget.read(tmp_path / "a.npz")
    at = dict(zip(motion.names, motion.positions[0], strict=True))
    assert any("average human" in note for note in motion.notes)
    assert 1.3 < at["Head"][2] - at["L_Foot"][2] < 1.8
    np.testing.assert_allclose(at["L_Wrist"][:2], at["L_Shoulder"][:2], atol=1e-9)
    np.testing.assert_allclose(at["R_Wrist"][1:], at["R_Shoulder"][1:], atol=1e-9)
    np.testing.assert_allclose(at["L_Ankle"][0] - at["R_Ankle"][0], 2.0 * (at["L_Hip"][0] - 1.0), atol=1e-9)
    report = kd.retarget.retarget(motion, kd.load("humanoid")).report
    assert any("average human" in note for note in report.notes)
    assert report.slip < 0.002 and report.penetration < 0.002 and report.limit_violations == 0


@pytest.mark.parametrize("names", [("root_orient", "pose_body", "trans"), ("global_orient", "body_pose", "transl")])
def test_rotations_in_parts_are_those_of_the_whole(tmp_path: Path, names: tuple[str, str, str]) -> None:
    rng = np.random.default_rng(2)
    poses, trans = 0.3 * rng.normal(size=(5, 66)), rng.normal(size=(5, 3))
    np.savez(tmp_path / "whole.npz", poses=poses, trans=trans, fps=30)
    np.savez(tmp_path / "parts.npz", **dict(zip(names, (poses[:, :3], poses[:, 3:], trans), strict=True)), fps=30)
    parts, whole = (kd.retarget.read(tmp_path / f"{name}.npz") for name in ("parts", "whole"))
    np.testing.assert_array_equal(parts.positions, whole.positions)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"poses": np.zeros((3, 72)), "trans": np.zeros((3, 3))}, "no frame rate"),
        ({"poses": np.zeros((3, 60)), "trans": np.zeros((3, 3)), "fps": 30}, "66 or more"),
        ({"trans": np.zeros((3, 3)), "fps": 30}, "neither joints nor poses"),
        ({"joints": np.zeros((3, 5, 3)), "fps": 30}, "22 or more"),
        ({"root_orient": np.zeros((2, 3)), "pose_body": np.zeros((3, 63)), "trans": np.zeros((3, 3)), "fps": 30}, "66"),
    ],
)
def test_incomplete_smpl_files_say_what_is_missing(tmp_path: Path, arrays: dict, message: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(kd.InputError, match=message):
        kd.retarget.read(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"poses": np.zeros((0, 72)), "trans": np.zeros((0, 3))}, "poses must have frames"),
        ({"mocap_framerate": "fast"}, "mocap_framerate must be a number"),
        ({"mocap_framerate": np.zeros(0)}, "mocap_framerate must be a number"),
        ({"poses": np.full((9, 72), "a")}, "poses must be real numbers"),
        ({"trans": np.zeros((9, 3), dtype=complex)}, "trans must be real numbers"),
    ],
)
def test_smpl_arrays_of_other_kinds_are_refused(tmp_path: Path, changes: dict, message: str) -> None:
    arrays = {"poses": np.zeros((9, 72)), "trans": np.zeros((9, 3)), "mocap_framerate": 30.0, **changes}
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(kd.InputError, match=message):
        kd.retarget.read(tmp_path / "a.npz")


@pytest.mark.parametrize("time", ["time", "Time (Seconds)", "t [s]"])
def test_points_of_a_csv_file_are_those_of_the_motion(tmp_path: Path, time: str) -> None:
    example = kd.retarget.example_motion(1)
    header = [time, *(f"{name}.{axis}" for name in example.names for axis in "xyz")]
    rows = np.column_stack([np.arange(len(example)) / example.rate, example.positions.reshape(len(example), -1)])
    lines = [",".join(header), *(",".join(f"{value:.9f}" for value in row) for row in rows)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    motion = kd.retarget.read(tmp_path / "a.csv")
    assert motion.rate == pytest.approx(example.rate, rel=1e-6)
    expected, found = kd.retarget.key_points(example), kd.retarget.key_points(motion)
    for key in REQUIRED:
        np.testing.assert_allclose(found[key], expected[key], atol=1e-8)


def test_a_csv_file_without_times_or_points_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a.x,a.y,a.z\n1,2,3\n2,3,4\n", encoding="utf-8")
    with pytest.raises(kd.InputError, match="no column of times"):
        kd.retarget.read(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("time,speed\n1,2\n2,3\n", encoding="utf-8")
    with pytest.raises(kd.InputError, match="has no points"):
        kd.retarget.read(tmp_path / "b.csv")


def test_points_of_a_c3d_file_are_those_of_the_motion(tmp_path: Path) -> None:
    ezc3d = pytest.importorskip("ezc3d")
    example = kd.retarget.example_motion(1)
    content = ezc3d.c3d()
    content["parameters"]["POINT"]["RATE"]["value"] = [example.rate]
    content["parameters"]["POINT"]["LABELS"]["value"] = list(example.names)
    content["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    points = np.ones((4, len(example.names), len(example)))
    points[:3] = 1e3 * example.positions.transpose(2, 1, 0)
    content["data"]["points"] = points
    content.write(str(tmp_path / "a.c3d"))
    motion = kd.retarget.read(tmp_path / "a.c3d")
    assert motion.units == 0.001 and motion.names == example.names
    np.testing.assert_allclose(motion.positions, 1e3 * example.positions, atol=1e-2)


@pytest.mark.parametrize("name", ["a.c3d", "a.npz", "a.csv", "a.bvh"])
def test_files_that_are_missing_or_garbage_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(kd.InputError):
        kd.retarget.read(tmp_path / name)
    (tmp_path / name).write_bytes(bytes(range(256)) * 4)
    with pytest.raises(kd.InputError):
        kd.retarget.read(tmp_path / name)


def test_other_suffixes_are_refused() -> None:
    with pytest.raises(kd.InputError, match="motions end in"):
        kd.retarget.read("walk.fbx")


def test_rounded_times_of_a_csv_file_do_not_change_its_rate(tmp_path: Path) -> None:
    """1/120 s as 0.008333 s: four frames in a hundred thousand."""
    times = np.arange(481) / 120.0
    points = np.column_stack([times.round(6), np.sin(times), np.cos(times), times])
    np.savetxt(tmp_path / "a.csv", points, delimiter=",", header="time,A.x,A.y,A.z", comments="", fmt="%.6f")
    motion = kd.retarget.read(tmp_path / "a.csv")
    assert motion.rate == pytest.approx(120.0, rel=1e-6) and motion.duration == pytest.approx(4.0, abs=1e-6)
