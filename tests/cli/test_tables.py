"""Tables fit the terminal: no number is wrapped, and omitted columns are named."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import kinodyn as kd
from kinodyn.cli.output import _as_text
from kinodyn.cli.result import Table
from kinodyn.cli.terminal import rich_table

Run = Callable[[str], Any]  # the fixture of conftest.py


def render(table: Table, width: int) -> list[str]:
    console = Console(width=width, file=None, record=True, quiet=False)
    with console.capture() as capture:
        console.print(rich_table(table, width))
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_number_is_wrapped_and_no_line_is_too_long(width: int) -> None:
    values = np.random.default_rng(0).normal(size=(3, 7)) * 10.0 ** np.arange(-4, 3)
    headings = ["joint", *(f"a_rather_long_name_of_joint{k}" for k in range(7))]
    lines = render(Table("", headings, [(f"row{k}", *row) for k, row in enumerate(values)]), width)
    rows = [line.split() for line in lines if line.lstrip().startswith("row")]
    assert len(rows) == 3 and all(len(line) <= width for line in lines)
    shown = np.array([[float(entry) for entry in row[1:]] for row in rows])
    np.testing.assert_allclose(shown, values[:, : shown.shape[1]], rtol=6e-3)
    assert shown.shape[1] == 7 or any("more columns:" in line for line in lines)


def test_the_whole_jacobian_fits_into_eighty_characters(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = run("kinodyn jacobian humanoid --q standing").out
    rows = re.findall(r"^  (left_\S+) +(.*)$", out, re.MULTILINE)
    robot = kd.load("humanoid")
    assert len(rows) == 13 and all(len(entries.split()) == 6 for _, entries in rows)
    J = kd.kinematics.jacobian(robot, robot.configuration("standing"), "left_palm")
    wrist = [float(entry) for entry in dict(rows)["left_wrist_roll"].split()]
    np.testing.assert_allclose(wrist, J[:, robot.joint("left_wrist_roll").v.start], rtol=6e-3)


def test_all_robot_names_are_shown(run: Run) -> None:
    assert set(kd.robots()) <= set(run("kinodyn robots").out.split())


def test_part_selects_the_directions_of_the_manipulability(run: Run) -> None:
    whole, part = (run(f"kinodyn jacobian planar2r --q 0.3,0.5 {option} --json") for option in ("", "--part 'x y'"))
    assert whole.result["manipulability"] == 0.0
    np.testing.assert_allclose(part.result["manipulability"], np.sin(0.5))
    assert "--part selects" in run("kinodyn jacobian planar2r").out


def test_a_report_formats_inputs_readably() -> None:
    assert _as_text(np.array([0.1, -2.0])) == "0.1, -2" and _as_text(np.eye(2)) == "1, 0; 0, 1"
    assert _as_text(np.zeros((100, 7))) == "array of 100 x 7 numbers"
    assert _as_text({"q": 0.25, "v": (1, 2)}) == "q = 0.25, v = 1, 2" and _as_text(None) is None
