"""Key points are recognised by the names of common skeletons, by structure, or by a mapping."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.retarget.example import NAMES, PARENTS
from kinodyn.retarget.keypoints import REQUIRED, by_structure, recognise

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


def renamed(names: dict[str, str]) -> kd.retarget.Motion:
    example = kd.retarget.example_motion(1)
    return kd.retarget.Motion(tuple(names[name] for name in NAMES), PARENTS, example.positions, example.rate)


@pytest.mark.parametrize(
    "names",
    [
        *(dict(zip(NAMES, NAMES, strict=True)), MIXAMO, SMPL, BLENDER, ASF),
        *(POSER, OPTITRACK, SOMA, UNDERSCORE, DEFORM, VRM),
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
    found = by_structure(motion)
    assert {key: found[key] for key in ("left_hip", "left_knee", "left_ankle", "right_elbow", "right_wrist")} == {
        "left_hip": "Left_A",
        "left_knee": "Left_B",
        "left_ankle": "Left_C",
        "right_elbow": "Right_F",
        "right_wrist": "Right_G",
    }
    assert set(REQUIRED) <= set(recognise(motion))


def test_missing_joints_are_named_and_a_mapping_adds_them(tmp_path: Path) -> None:
    names = {name: f"bone{k}" for k, name in enumerate(NAMES)}
    motion = renamed(names)
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
