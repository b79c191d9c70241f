"""Key points are recognised by the names of common skeletons, by structure, or by a mapping."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.retarget.example import NAMES, PARENTS
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import REQUIRED, key_points, recognise, split_side
from kinodyn.retarget.structure import limbs

MIXAMO = {name: f"mixamorig:{name}" for name in NAMES}
SMPL = dict(
    zip(
        NAMES,
        (
            *("Pelvis", "L_Hip", "L_Knee", "L_Ankle", "L_Foot", "R_Hip", "R_Knee", "R_Ankle", "R_Foot"),
            *("Spine1", "Neck", "Head", "L_Shoulder", "L_Elbow", "L_Wrist", "R_Shoulder", "R_Elbow", "R_Wrist"),
        ),
        strict=True,
    )
)
BLENDER = dict(
    zip(
        NAMES,
        (
            *("hips", "thigh.L", "shin.L", "foot.L", "toe.L", "thigh.R", "shin.R", "foot.R", "toe.R"),
            *("spine", "neck", "head", "upper_arm.L", "forearm.L", "hand.L", "upper_arm.R", "forearm.R", "hand.R"),
        ),
        strict=True,
    )
)
ASF = dict(
    zip(
        NAMES,
        (
            *("root", "lfemur", "ltibia", "lfoot", "ltoes", "rfemur", "rtibia", "rfoot", "rtoes"),
            *("lowerback", "neck", "head", "lhumerus", "lradius", "lwrist", "rhumerus", "rradius", "rwrist"),
        ),
        strict=True,
    )
)
POSER = dict(
    zip(
        NAMES,
        (
            *("hip", "lThigh", "lShin", "lFoot", "lToe", "rThigh", "rShin", "rFoot", "rToe"),
            *("abdomen", "neck", "head", "lShldr", "lForeArm", "lHand", "rShldr", "rForeArm", "rHand"),
        ),
        strict=True,
    )
)
OPTITRACK = dict(
    zip(
        NAMES,
        (
            *("A_Hip", "A_LThigh", "A_LShin", "A_LFoot", "A_LToe", "A_RThigh", "A_RShin", "A_RFoot", "A_RToe"),
            *("A_Ab", "A_Neck", "A_Head", "A_LUArm", "A_LFArm", "A_LHand", "A_RUArm", "A_RFArm", "A_RHand"),
        ),
        strict=True,
    )
)
SOMA = {name: name.replace("UpLeg", "_Leg").replace("ftLeg", "ftShin").replace("htLeg", "htShin") for name in NAMES}
UNDERSCORE = {name: f"mixamorig_{name}" for name in NAMES}
DEFORM = {name: f"DEF-{other}" for name, other in BLENDER.items()}
VRM = {name: f"J_Bip_{other}" for name, other in SMPL.items()}
CENTRE = VRM | {"Spine": "J_Bip_C_Spine", "Neck": "J_Bip_C_Neck", "Head": "J_Bip_C_Head"}
UNREAL = dict(
    zip(
        NAMES,
        (
            *("pelvis", "thigh_l", "calf_l", "foot_l", "ball_l", "thigh_r", "calf_r", "foot_r", "ball_r"),
            *(
                "spine_01",
                "neck_01",
                "head",
                "upperarm_l",
                "lowerarm_l",
                "hand_l",
                "upperarm_r",
                "lowerarm_r",
                "hand_r",
            ),
        ),
        strict=True,
    )
)
JOINTS = {name: f"{other.lower()}_jnt" for name, other in SMPL.items()}
LABORATORY = UNREAL | {
    f"{side}{part}": f"{side[0].lower()}_{name}"
    for side in ("Left", "Right")
    for part, name in (("UpLeg", "thigh"), ("Leg", "shank"), ("Foot", "foot"), ("Arm", "uarm"), ("ForeArm", "larm"))
}
NUMBERS = {name: f"bone{k}" for k, name in enumerate(NAMES)}


def renamed(names: dict[str, str]) -> kd.retarget.Motion:
    example = kd.retarget.example_motion(1)
    return kd.retarget.Motion(tuple(names[name] for name in NAMES), PARENTS, example.positions, example.rate)


@pytest.mark.parametrize(
    "names",
    [
        *(dict(zip(NAMES, NAMES, strict=True)), MIXAMO, SMPL, BLENDER, ASF),
        *(POSER, OPTITRACK, SOMA, UNDERSCORE, DEFORM, VRM, CENTRE, UNREAL, JOINTS, LABORATORY),
    ],
)
def test_names_of_common_skeletons_are_recognised(names: dict[str, str]) -> None:
    expected = kd.retarget.key_points(kd.retarget.example_motion(1))
    found = kd.retarget.key_points(renamed(names))
    for key in (*REQUIRED, "left_toe", "right_toe", "neck", "head"):
        np.testing.assert_array_equal(found[key], expected[key], err_msg=key)


def test_limbs_without_known_names_are_found_by_their_bones() -> None:
    words = {"UpLeg": "A", "Leg": "B", "Foot": "C", "ToeBase": "D", "Arm": "E", "ForeArm": "F", "Hand": "G"}

    def strange(name: str) -> str:
        side = next((side for side in ("Left", "Right") if name.startswith(side)), "")
        return f"{side}_{words[name.removeprefix(side)]}" if side else f"Part{name}"

    motion = renamed({name: strange(name) for name in NAMES})
    found = limbs(motion, [split_side(name)[0] for name in motion.names])
    assert {key: found[key][0] for key in ("left_hip", "left_knee", "left_ankle", "right_elbow", "right_wrist")} == {
        "left_hip": "Left_A",
        "left_knee": "Left_B",
        "left_ankle": "Left_C",
        "right_elbow": "Right_F",
        "right_wrist": "Right_G",
    }
    assert set(REQUIRED) <= set(recognise(motion))


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1)], ids=["z up", "x up"])
def test_sides_spine_and_ends_of_a_skeleton_without_names_are_found_by_its_structure(axes: tuple[int, ...]) -> None:
    motion = renamed(NUMBERS)
    turned = kd.retarget.Motion(motion.names, motion.parents, motion.positions[:, :, list(axes)], motion.rate)
    expected = recognise(kd.retarget.example_motion(1))
    found = recognise(turned)
    for key in (*REQUIRED, "left_toe", "right_toe", "spine", "neck"):
        assert found[key] == tuple(NUMBERS[name] for name in expected[key]), key


def test_ends_without_an_offset_are_no_hands() -> None:
    example = kd.retarget.example_motion(1)
    wrist = NAMES.index("LeftHand")
    positions = np.concatenate([example.positions, example.positions[:, [wrist]]], axis=1)
    motion = kd.retarget.Motion((*NAMES, "LeftHand_end"), (*PARENTS, wrist), positions, example.rate)
    assert "left_hand" not in recognise(motion)
    positions[:, -1, 2] -= 0.1
    motion = kd.retarget.Motion((*NAMES, "LeftHand_end"), (*PARENTS, wrist), positions, example.rate)
    assert recognise(motion)["left_hand"] == ("LeftHand_end",)


def test_a_long_clavicle_is_no_upper_arm() -> None:
    motion = renamed(NUMBERS)
    names, parents, positions = list(motion.names), list(motion.parents), motion.positions
    for arm, side in ((NAMES.index("LeftArm"), 1.0), (NAMES.index("RightArm"), -1.0)):
        names.append(f"clavicle{side}")
        parents.append(parents[arm])
        parents[arm] = len(names) - 1
        middle = positions[:, arm] - [0.0, 0.28 * side, 0.0]  # somewhat longer than the forearm
        positions = np.concatenate([positions, middle[:, None]], axis=1)
    order = sorted(range(len(names)), key=lambda k: depth(parents, k))
    place = {k: n for n, k in enumerate(order)}
    ordered = tuple(place[parents[k]] if parents[k] >= 0 else -1 for k in order)
    found = limbs(
        kd.retarget.Motion(tuple(names[k] for k in order), ordered, positions[:, order], motion.rate), [""] * 99
    )
    assert found["left_shoulder"] == (NUMBERS["LeftArm"],)
    assert found["right_elbow"] == (NUMBERS["RightForeArm"],)


def depth(parents: list[int], joint: int) -> int:
    return 0 if parents[joint] < 0 else 1 + depth(parents, parents[joint])


def test_missing_joints_are_named_and_a_mapping_adds_them(tmp_path: Path) -> None:
    names = NUMBERS
    joints = renamed(names)
    motion = kd.retarget.Motion(joints.names, (-1,) * len(NAMES), joints.positions, joints.rate)  # points, no bones
    with pytest.raises(kd.InputError, match="left_hip, right_hip, left_knee.*The motion has: bone0"):
        kd.retarget.key_points(motion)
    example = recognise(kd.retarget.example_motion(1))
    mapping = {key: names[example[key][0]] for key in REQUIRED}
    file = tmp_path / "mapping.json"
    file.write_text(json.dumps(mapping), encoding="utf-8")
    expected = kd.retarget.key_points(kd.retarget.example_motion(1))
    for given in (mapping, file):
        found = kd.retarget.key_points(motion, given)
        np.testing.assert_array_equal(found["right_wrist"], expected["right_wrist"])


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"tail": "Hips"}, "mapping has 'tail'"),
        ({"left_hip": "nobody"}, "there is no 'nobody'"),
        (7, "mapping must be a string or path, a mapping with strings as keys or None"),
        ("missing.json", "cannot be read"),
    ],
)
def test_bad_mappings_are_refused(mapping: object, message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        kd.retarget.key_points(kd.retarget.example_motion(1), mapping)  # type: ignore[arg-type]


@pytest.mark.parametrize("prefix", ["Subject:", "Subject_", ""])
def test_plug_in_gait_markers_are_recognised(prefix: str) -> None:
    example = kd.retarget.example_motion(1)
    parts = {"UpLeg": "ASI PSI", "Leg": "KNE", "Foot": "ANK", "ToeBase": "TOE", "Arm": "SHO", "ForeArm": "ELB"}
    names, columns = [], []
    for side in ("Left", "Right"):
        for part, markers in (parts | {"Hand": "WRA WRB"}).items():
            for marker in markers.split():
                names.append(f"{prefix}{side[0]}{marker}")
                columns.append(example.positions[:, NAMES.index(side + part)])
    motion = kd.retarget.Motion(tuple(names), (-1,) * len(names), np.stack(columns, axis=1), 60.0)
    expected = kd.retarget.key_points(example)
    found = kd.retarget.key_points(motion)
    for key in REQUIRED:
        np.testing.assert_allclose(found[key], expected[key], atol=1e-12)


def test_a_corrupt_number_is_a_frame_that_was_not_seen() -> None:
    motion = kd.retarget.example_motion()
    positions = motion.positions.copy()
    positions[20, motion.names.index("LeftHand")] = 1e30
    corrupt = kd.retarget.Motion(motion.names, motion.parents, positions, motion.rate)
    human = normalise(corrupt, key_points(corrupt), motion.rate)
    whole = normalise(motion, key_points(motion), motion.rate)
    assert any("1 frames interpolated" in note for note in human.notes)
    np.testing.assert_allclose(human.points["left_wrist"], whole.points["left_wrist"], atol=0.02)


def test_hips_at_the_same_place_are_an_error_that_names_them() -> None:
    motion = kd.retarget.example_motion()
    points = dict(key_points(motion))
    points["left_hip"] = points["right_hip"] = 0.5 * (points["left_hip"] + points["right_hip"])
    with pytest.raises(kd.InputError, match="left and right hip are at the same place"):
        normalise(motion, points, 30.0)
