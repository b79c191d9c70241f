"""Reader of SMPL motions in NPZ files, such as those of AMASS: joint positions, or rotations with bone offsets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from kinodyn import tables
from kinodyn.arrays import Array
from kinodyn.description.human.proportions import proportions
from kinodyn.errors import InputError
from kinodyn.retarget.motion import Motion
from kinodyn.spatial import exp3

# The first 22 joints of SMPL, SMPL-H and SMPL-X, which all three share (M. Loper et al., 2015).
NAMES = (
    "Pelvis",
    "L_Hip",
    "R_Hip",
    "Spine1",
    "L_Knee",
    "R_Knee",
    "Spine2",
    "L_Ankle",
    "R_Ankle",
    "Spine3",
    "L_Foot",
    "R_Foot",
    "Neck",
    "L_Collar",
    "R_Collar",
    "Head",
    "L_Shoulder",
    "R_Shoulder",
    "L_Elbow",
    "R_Elbow",
    "L_Wrist",
    "R_Wrist",
)
PARENTS = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)
# Names of rotations of the root, of the other joints, and of the positions of the root, where `poses` is not there.
PARTS = (("root_orient", "pose_body", "trans"), ("global_orient", "body_pose", "transl"))
POSITIONS = ("joints", "joint_positions", "positions", "Jtr")
HEIGHT, MASS = 1.7, 68.0  # [m], [kg] of the average human whose bones files without bones get
AVERAGE = "bones of an average human: the file has rotations, but no offsets"
RATES = ("mocap_framerate", "mocap_frame_rate", "fps", "frame_rate", "framerate")


def read_smpl(path: str | os.PathLike[str]) -> Motion:
    """Read an SMPL motion.

    Parameters
    ----------
    path
        An NPZ file with the positions of joints, `joints` (frames, 22 or more, 3) [m]; or, as in AMASS, rotation
        vectors `poses` (frames, 66 or more) and positions of the root `trans` (frames, 3), together with the positions
        of the joints at rest, `offsets` (22 or more, 3), each from its parent. A body model is not needed: without
        offsets, those of an average human are used, which a note of the motion says. `root_orient` and `pose_body`, or
        `global_orient`, `body_pose` and `transl`, may stand for `poses` and `trans`. The rate is `mocap_framerate` or
        `fps`.

    Returns
    -------
    Motion
    """
    file = Path(path)
    arrays, _ = tables.read(file, suffixes=(".npz",))
    arrays = _joined(arrays)
    rate = _rate(file, arrays)
    given = next((name for name in POSITIONS if name in arrays), None)
    positions = _positions(file, arrays[given]) if given else _from_rotations(file, arrays)
    notes = () if given or "offsets" in arrays else (AVERAGE,)
    return Motion(NAMES, PARENTS, positions, rate, file.name, units=1.0, notes=notes)


def _joined(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return arrays with `poses` and `trans`, if a file has them in parts."""
    for root, body, trans in PARTS:
        if "poses" not in arrays and {root, body, trans} <= set(arrays):
            parts = [np.asarray(arrays[name]) for name in (root, body)]
            poses = (
                np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1) if _even(parts) else parts[0]
            )
            return {**arrays, "poses": poses, "trans": arrays[trans]}
    return arrays


def _even(parts: list[Any]) -> bool:
    """Whether arrays have the same number of rows."""
    return all(part.size > 0 and part.ndim > 0 for part in parts) and len({len(part) for part in parts}) == 1


def _rate(file: Path, arrays: dict[str, Any]) -> float:
    name = next((name for name in RATES if name in arrays), None)
    if name is None:
        raise InputError(f"{file} has no frame rate; give one of {', '.join(RATES)}")
    try:
        return float(np.ravel(arrays[name])[0])
    except (TypeError, ValueError, IndexError) as cause:
        raise InputError(f"{file}: {name} must be a number [Hz], got {arrays[name]!r:.60}") from cause


def _numbers(file: Path, name: str, array: Any) -> Array:
    if np.asarray(array).dtype.kind not in "fiub":
        raise InputError(f"{file}: {name} must be real numbers, got {np.asarray(array).dtype}")
    return np.asarray(array, dtype=float)


def _positions(file: Path, joints: Any) -> Array:
    joints = _numbers(file, "positions of joints", joints)
    if joints.ndim != 3 or joints.shape[1] < len(NAMES) or joints.shape[2] != 3:
        raise InputError(f"{file}: positions of joints must be (frames, {len(NAMES)} or more, 3), got {joints.shape}")
    return np.asarray(joints[:, : len(NAMES)])


def _from_rotations(file: Path, arrays: dict[str, Any]) -> Array:
    missing = [name for name in ("poses", "trans") if name not in arrays]
    if missing:
        raise InputError(f"{file} has neither joints nor {' and '.join(missing)}; it has {', '.join(sorted(arrays))}")
    n = len(NAMES)
    poses, trans = (_numbers(file, name, arrays[name]) for name in ("poses", "trans"))
    offsets = _numbers(file, "offsets", arrays["offsets"]) if "offsets" in arrays else average_offsets()
    if not poses.size:
        raise InputError(f"{file}: poses must have frames, got {poses.shape}")
    poses = poses.reshape(len(poses), -1)
    if poses.shape[1] < 3 * n or trans.shape != (len(poses), 3) or offsets.ndim != 2 or offsets.shape[0] < n:
        raise InputError(
            f"{file}: poses must be (frames, {3 * n} or more), trans (frames, 3), offsets ({n} or more, 3), got "
            f"{poses.shape}, {trans.shape}, {offsets.shape}"
        )
    if not np.isfinite(poses).all():
        raise InputError(f"{file}: poses has numbers that are not finite")
    R = exp3(poses[:, : 3 * n].reshape(-1, n, 3))
    positions, world = np.empty((len(poses), n, 3)), np.empty((len(poses), n, 3, 3))
    positions[:, 0], world[:, 0] = trans + offsets[0], R[:, 0]
    for k in range(1, n):
        parent = PARENTS[k]
        positions[:, k] = positions[:, parent] + world[:, parent] @ offsets[k]
        world[:, k] = world[:, parent] @ R[:, k]
    return positions


def average_offsets() -> Array:
    """Return the positions (22, 3) of joints from their parents [m] of an average human, in the axes of SMPL.

    At rest arms point sideways along x, legs down along -y, and toes forward along z. Lengths are those of the table
    of body segments that the bundled humanoid has.
    """
    body = proportions(HEIGHT, MASS, "male")
    arm, forearm, thigh, shank = (body.length[name] for name in ("upper_arm", "forearm", "thigh", "shank"))
    neck = body.length["lower_trunk"] + body.torso_length
    toes = body.foot_length - body.heel_to_ankle
    spine = body.shoulder_height / 3.0
    middle = {
        "Spine1": (0.0, spine, 0.0),
        "Spine2": (0.0, spine, 0.0),
        "Spine3": (0.0, spine, 0.0),
        "Neck": (0.0, neck - body.shoulder_height, 0.0),
        "Head": (0.0, 0.5 * body.length["head"], 0.0),
    }
    sided = {
        "Hip": (body.hip_half_width, 0.0, 0.0),
        "Knee": (0.0, -thigh, 0.0),
        "Ankle": (0.0, -shank, 0.0),
        "Foot": (0.0, -0.75 * body.ankle_height, 0.75 * toes),
        "Collar": (0.5 * body.shoulder_half_width, 0.0, 0.0),
        "Shoulder": (0.5 * body.shoulder_half_width, 0.0, 0.0),
        "Elbow": (arm, 0.0, 0.0),
        "Wrist": (forearm, 0.0, 0.0),
    }
    left = {f"L_{name}": offset for name, offset in sided.items()}
    right = {f"R_{name}": (-x, y, z) for name, (x, y, z) in sided.items()}
    offsets = {"Pelvis": (0.0, 0.0, 0.0)} | middle | left | right
    return np.array([offsets[name] for name in NAMES])
