"""Files that are broken, hostile or wrong."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import kinodyn as kd
from kinodyn.interop import moveit
from kinodyn.interop.moveit import yaml_text

ROBOT = kd.load("panda")
BOX: dict[str, Any] = {"type": "box", "dimensions": [1, 1, 1]}


def scene(text: str) -> moveit.Scene:
    return moveit.read_scene(f"{text}\n", ROBOT)


def with_object(**fields: Any) -> moveit.Scene:
    return moveit.read_scene({"world": {"collision_objects": [{"id": "a", **fields}]}}, ROBOT)


def test_a_yaml_alias_bomb_is_rejected_quickly() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 12)]
    began = time.process_time()
    with pytest.raises(kd.InputError, match="aliases included"):
        scene("\n".join(lines))
    assert time.process_time() - began < 1.0


def test_deep_nesting_is_rejected() -> None:
    for text in ("[" * 200_000 + "]" * 200_000, "- " * 20_000 + "x", "{a: " * 20_000 + "x" + "}" * 20_000):
        with pytest.raises(kd.InputError, match="levels of nesting|not a YAML file"):
            scene(text)


def test_an_alias_stands_for_its_value() -> None:
    text = """
world:
  collision_objects:
    - {id: a, primitives: &shapes [{type: box, dimensions: &size [1, 2, 3]}]}
    - {id: b, primitives: *shapes}
    - {id: c, primitives: [{type: box, dimensions: *size}]}
"""
    sizes = [thing.shape.size.tolist() for thing in scene(text).world]
    assert sizes == 3 * [[1, 2, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &a [*a]", "refers to itself"),
        ("a: *b", "undefined"),
        ("a: !!python/object/apply:os.system ['true']", "tag .*python"),
        ("a: !thing {b: c}", "tag !thing"),
        ("a: 1\na: 2", "repeated"),
        ("? [a, b]\n: 1", "not a string"),
        ("x: &x {a: 1}\ny: {<<: *x}", "merge key"),
        ("a: [1, 2", "not a YAML file"),
        ("a: \x00", "not a YAML file"),
        ("a: 1\n---\nb: 2", "several documents"),
        ("- 1\n- 2", "a mapping of fields"),
        ("just text", "a mapping of fields"),
    ],
)
def test_text_that_is_not_a_plain_message_is_an_error(text: str, message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        scene(text)


def test_values_are_those_of_a_safe_loader() -> None:
    text = "a: [x, 'y', \"z\", ~, '', null]\nb: {c: {}, d: []}\ne: |\n  two\n  lines\n"
    assert yaml_text.parse_yaml(text, "text") == yaml.safe_load(text)


def test_files_that_cannot_be_read_are_errors(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)))
    os.mkfifo(tmp_path / "pipe.yaml")
    for name, message in (("none.yaml", "cannot be read"), ("binary.yaml", "not UTF-8"), ("pipe.yaml", "regular file")):
        with pytest.raises(kd.InputError, match=message):
            moveit.read_scene(tmp_path / name, ROBOT)
    with pytest.raises(kd.InputError, match="regular file"):
        moveit.read_scene(tmp_path, ROBOT)
    with pytest.raises(kd.InputError, match="scene must be a path, YAML text, a dictionary or message"):
        moveit.read_scene(3, ROBOT)
    with pytest.raises(kd.InputError, match="robot must be"):
        moveit.read_scene({}, "panda")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"primitives": [{**BOX, "dimensions": [1, 1]}]}, r"primitives\[0\]\.dimensions must be 3 lengths above 0"),
        ({"primitives": [{**BOX, "dimensions": [1, 0, 1]}]}, "above 0"),
        ({"primitives": [{**BOX, "dimensions": [1, -1, 1]}]}, "above 0"),
        ({"primitives": [{**BOX, "dimensions": [1, "nan", 1]}]}, "finite number"),
        ({"primitives": [{**BOX, "dimensions": [1, np.inf, 1]}]}, "finite number"),
        ({"primitives": [{**BOX, "dimensions": [1, True, 1]}]}, "finite number"),
        ({"primitives": [{**BOX, "dimensions": [1, [1], 1]}]}, "finite number"),
        ({"primitives": [{**BOX, "dimensions": "1 1 1"}]}, "a list"),
        ({"primitives": [{**BOX, "type": "teapot"}]}, "box, sphere, cylinder, cone"),
        ({"primitives": [{**BOX, "type": 5}]}, "box, sphere, cylinder, cone"),
        ({"primitives": [{**BOX, "type": None}]}, "type"),
        ({"primitives": [3]}, "a mapping"),
        ({"primitives": {"type": "box"}}, "a list"),
        ({"primitives": [BOX], "primitive_poses": [{}, {}]}, "2 poses for 1 primitives"),
        ({"primitives": [BOX], "pose": {"position": [1, 2]}}, "3 numbers"),
        ({"primitives": [BOX], "pose": {"position": {"x": 1, "r": 2}}}, "3 numbers"),
        ({"primitives": [BOX], "pose": {"position": ["a", "b", "c"]}}, "finite number"),
        ({"primitives": [BOX], "pose": {"orientation": [0, 0, 0, 0.5]}}, "norm 0.5"),
        ({"primitives": [BOX], "operation": 1}, "operation"),
        ({"primitives": [BOX], "id": ""}, "name of the object"),
        ({"primitives": [BOX], "id": ["a"]}, "a string"),
        ({}, "has no shapes"),
        ({"planes": [{"coef": [0, 0, 0, 1]}]}, "coef"),
        ({"meshes": [{"vertices": [[0, 0, 0]], "triangles": [[0, 1, 2]]}]}, "faces"),
        ({"meshes": [{}]}, "meshes"),
        ({"meshes": [{"resource": "package://nowhere/a.stl"}]}, "not on this machine"),
    ],
)
def test_invalid_objects_are_errors_with_the_path_of_the_field(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(kd.InputError, match=message) as caught:
        with_object(**fields)
    assert "world.collision_objects[0]" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"world": {"collision_objects": [{"id": "a", "primitives": [BOX]}] * 2}}, "earlier object"),
        ({"world": {"octomap": {"octomap": {"data": [1, 2]}}}}, "octomaps are not read"),
        ({"robot_state": {"joint_state": {"name": ["panda_joint1"], "position": []}}}, "one position for each"),
        ({"robot_state": {"multi_dof_joint_state": {"joint_names": ["a"]}}}, "one name for each"),
        ({"allowed_collision_matrix": {"entry_names": ["a", "b"], "entry_values": [[True]]}}, "2 rows of 2"),
        (
            {"allowed_collision_matrix": {"entry_names": ["a", "b"], "entry_values": [[0, 1], [0, 0]]}},
            "symmetric",
        ),
        (
            {"allowed_collision_matrix": {"entry_names": ["a", "b"], "entry_values": [[0, 2], [2, 0]]}},
            "true or false",
        ),
        ({"allowed_collision_matrix": {"entry_names": ["a", "a"], "entry_values": []}}, "names that differ"),
        ({"allowed_collision_matrix": {"default_entry_names": ["a"]}}, "default_entry_values"),
        ({"link_padding": [{"link_name": "a", "padding": -0.1}]}, "padding"),
        ({"link_scale": [{"link_name": "a", "scale": 0}]}, "above 0"),
        ({"world": []}, "a mapping"),
    ],
)
def test_invalid_scenes_are_errors_that_say_what_is_allowed(data: dict[str, Any], message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        moveit.read_scene(data, ROBOT)


def test_an_unknown_frame_or_link_suggests_the_nearest() -> None:
    with pytest.raises(kd.UnknownNameError, match="panda_link7"):
        with_object(primitives=[BOX], header={"frame_id": "panda_link77"})
    held = {"link_name": "panda_hand", "object": {"id": "a", "primitives": [BOX]}}
    with pytest.raises(kd.UnknownNameError, match="unknown frame 'panda_hand'"):
        moveit.read_scene({"robot_state": {"attached_collision_objects": [held]}}, ROBOT)
