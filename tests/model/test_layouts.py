"""Structures that Python and the compiled core share by name."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.ik.problem import METHODS, Problem
from kinodyn.layouts import block_size, codes, layout, named_view
from kinodyn.model.compile import body_table, compile_tree, frame_table

RECORDS = [name for name, fields in _core.layouts().items() if isinstance(fields, np.dtype)]
BLOCKS = [name for name, fields in _core.layouts().items() if not isinstance(fields, np.dtype)]


@pytest.mark.parametrize("name", RECORDS)
def test_the_fields_of_a_record_cover_it_without_overlap(name):
    dtype = layout(name)
    ends = 0
    for form, offset in sorted((dtype.fields[field] for field in dtype.names), key=lambda entry: entry[1]):
        assert offset == ends
        ends = offset + form.itemsize
    assert ends <= dtype.itemsize < ends + 8


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_a_row_of_doubles_whose_named_view_shares_its_memory(name):
    sizes = {size: 3 for *_, shape in _core.layouts()[name] for size in shape if isinstance(size, str)}
    dtype = layout(name, **sizes)
    numbers = np.zeros((2, 5, block_size(dtype)))
    named = named_view(numbers, dtype)
    assert named.shape == (2, 5)
    for value, field in enumerate(dtype.names, start=1):
        named[field] = value
    assert (numbers > 0).all()


def test_what_python_writes_under_a_name_the_core_reads_under_it():
    robot = kd.load("puma560")
    tree = compile_tree(robot.description)
    frames = frame_table([tree.places[name] for name in robot.frame_names])
    frames["p"][-1] += [0.25, 0.0, 0.0]
    moved = _core.CompiledRobot(**_tables(robot, frames=frames))
    frame, q = robot.frame_names[-1], robot.neutral()
    before, after = (_core.pose(one, q, frame, None) for one in (robot, moved))
    body = before.copy()
    body[:3, 3] += before[:3, :3] @ frames["R"][-1].T @ [0.25, 0.0, 0.0]
    np.testing.assert_allclose(after, body, atol=1e-14)


@pytest.mark.parametrize("wrong", ["columns", "order", "layout", "list", "strided"])
def test_a_table_of_another_layout_is_rejected(wrong):
    robot = kd.load("puma560")
    table = body_table(compile_tree(robot.description).bodies)
    other = {
        "columns": np.zeros((len(table), 36)),
        "order": table.astype([(name, table.dtype[name]) for name in sorted(table.dtype.names)]),
        "layout": np.zeros(len(table), dtype=layout("frame")),
        "list": list(table),
        "strided": np.repeat(table, 2)[::2],
    }[wrong]
    with pytest.raises(kd.errors.InputError, match=r"bodies must be a one-dimensional array .* layout\('body'\)"):
        _core.CompiledRobot(**_tables(robot, bodies=other))


@pytest.mark.parametrize("name", _core.codes())
def test_the_codes_of_an_enumeration_are_distinct_and_cannot_be_changed(name):
    known = codes(name)
    assert sorted(known.values()) == list(range(len(known)))
    with pytest.raises(TypeError):
        known["another"] = 0


def test_no_module_numbers_an_enumeration_itself():
    """Such as `RED, GREEN = range(2)` in a module that talks to the core."""
    found = []
    for path in Path(kd.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "_core" in text or "layout" in text else ():
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and _is_range(node.value):
                found.append(f"{path.name}:{node.lineno}")
    assert found == []


def _is_range(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


@pytest.mark.parametrize(
    ("name", "direction"), [("transpose", lambda J, e: J.T @ e), ("pinv", lambda J, e: np.linalg.pinv(J) @ e)]
)
def test_the_core_steps_by_the_method_that_python_names(name, direction):
    robot = kd.load("ur5")
    q, frame = robot.random(1, seed=3)[0], robot.frame_names[-1]
    T = kd.kinematics.pose(robot, q, frame)
    T[:3, 3] += [0.01, -0.02, 0.015]
    problem = Problem(robot, {frame: T}, None, position_only=True, tolerance=1e-9)
    problem.flatten(q)
    step = robot.difference(q, problem.attempt(replace(METHODS[name], iterations=1), q[None], limits=False).q[0])
    expected = direction(kd.kinematics.jacobian(robot, q, frame)[:3], np.array([0.01, -0.02, 0.015]))
    np.testing.assert_allclose(step / np.linalg.norm(step), expected / np.linalg.norm(expected), atol=1e-6)


def test_a_size_that_a_layout_lacks_is_an_error():
    with pytest.raises(kd.errors.InputError, match="'body' takes no sizes, got the sizes rows"):
        layout("body", rows=3)


def _tables(robot, **changes):
    tree = compile_tree(robot.description)
    tables = {
        "nq": tree.nq,
        "nv": tree.nv,
        "bodies": body_table(tree.bodies),
        "frames": frame_table([tree.places[name] for name in robot.frame_names]),
        "frame_names": list(robot.frame_names),
        "armature": np.zeros(tree.nv),
        "damping": np.zeros(tree.nv),
        "gravity": np.zeros(3),
        "dof_joints": [joint.name for joint in tree.dof_joint],
        "dof_links": [joint.child for joint in tree.dof_joint],
        "parameter_bodies": [],
    }
    return {**tables, **changes}
