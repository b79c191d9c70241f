"""kinodyn check: findings with lines, repairs when asked, exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kinodyn as kd

Run = Callable[[str], Any]  # the fixture of conftest.py

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="rod"><visual><geometry><box size="0.2 0.1 0.1"/></geometry></visual></link>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="1" upper="-1" effort="5" velocity="2"/>
  </joint>
</robot>
"""


def test_faults_are_listed_with_lines_and_repairs_and_nothing_is_written(run: Run) -> None:
    Path("arm.urdf").write_text(ARM)
    done = run("kinodyn check arm.urdf --json")
    assert done.code == 1
    found = {(one["level"], one["line"]): one["repair"] for one in done.result["findings"] if one["repair"]}
    assert found == {
        ("warning", 3): "2 kg, its shapes at 1000 kg/m^3",
        ("error", 6): 'lower="-1" upper="1", swapped',
    }
    assert Path("arm.urdf").read_text() == ARM
    assert sorted(path.name for path in Path().iterdir()) == ["arm.urdf"]
    assert "kinodyn check arm.urdf --repair repaired.urdf" in run("kinodyn check arm.urdf").out


def test_the_repaired_file_is_written_loads_and_was_simulated(run: Run) -> None:
    Path("arm.urdf").write_text(ARM)
    done = run("kinodyn check arm.urdf --repair mended.urdf --density 500")
    assert done.code == 0
    assert "2 of 2 findings repaired" in done.out
    assert "MuJoCo simulated 1000 steps" in done.out
    assert kd.load("mended.urdf").mass == pytest.approx(1.0)
    assert run("kinodyn check mended.urdf --strict").code == 0


def test_what_cannot_be_repaired_ends_with_exit_code_1(run: Run) -> None:
    Path("arm.urdf").write_text(ARM.replace('type="revolute"', 'type="wobbly"'))
    done = run("kinodyn check arm.urdf --repair mended.urdf --json")
    assert done.code == 1
    assert done.result["remaining"][0]["level"] == "error"


def test_warnings_count_when_strict(run: Run) -> None:
    Path("arm.urdf").write_text(ARM.replace('lower="1" upper="-1"', 'lower="-1" upper="1"'))
    assert run("kinodyn check arm.urdf").code == 0
    assert run("kinodyn check arm.urdf --strict").code == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("kinodyn check arm.urdf --repair arm.urdf", "is the checked file itself"),
        ("kinodyn check arm.urdf --repair mended.xml", "allowed are .urdf"),
        ("kinodyn check arm.urdf --repair nowhere/mended.urdf", "folder"),
        ("kinodyn check panda --repair mended.urdf", "has none"),
        ("kinodyn check arm.urdf --density 0", "density"),
        ("kinodyn check nowhere.urdf", "does not exist"),
    ],
)
def test_usage_errors_are_reported_before_anything_is_written(run: Run, line: str, said: str) -> None:
    Path("arm.urdf").write_text(ARM)
    done = run(line)
    assert done.code == 2
    assert said in done.err.replace("\n", " ")
    assert Path("arm.urdf").read_text() == ARM
