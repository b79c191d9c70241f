"""Plots: panels, curves and limits exist, and files are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.errors import InputError, UnknownNameError


def test_a_trajectory_is_plotted_with_its_limits(panda: kd.Robot, tmp_path: Path) -> None:
    motion = tr.cubic_spline(panda.random(4, seed=1), acceleration=6.0, robot=panda)
    figure = motion.plot(str(tmp_path / "motion.png"), torque=True, acceleration=6.0)
    assert (tmp_path / "motion.png").stat().st_size > 10_000
    assert len(figure.axes) == 4
    dashed = [[line for line in panel.lines if line.get_linestyle() == "--"] for panel in figure.axes]
    assert len(dashed[1]) == 14 and len(dashed[2]) == 14
    heights = sorted({round(float(line.get_ydata()[0]), 6) for line in dashed[1]})
    assert heights == [-2.61, -2.175, 2.175, 2.61]


def test_selected_joints_and_floating_bases_are_plotted(panda: kd.Robot, humanoid: kd.Robot) -> None:
    motion = tr.minimum_jerk(*panda.random(2, seed=1), 1.0, robot=panda)
    figure = motion.plot(joints=("panda_joint2",), orders=(0, 1, 2, 3))
    assert len(figure.axes) == 4 and len(figure.axes[0].get_legend_handles_labels()[1]) == 1
    q = np.tile(humanoid.neutral(), (2, 1))
    q[1, :3] = [0.5, 0.0, 0.1]
    labels = tr.minimum_jerk(q[0], q[1], 1.0, robot=humanoid).plot().axes[0].get_legend_handles_labels()[1]
    assert len(labels) == 2 and all("(moved)" in label for label in labels)
    with pytest.raises(UnknownNameError):
        motion.plot(joints=("elbow",))
    with pytest.raises(InputError, match="robot"):
        tr.minimum_jerk([0.0], [1.0], 1.0).plot(torque=True)


def test_a_pose_trajectory_is_plotted(tmp_path: Path) -> None:
    end = np.eye(4)
    end[:3, 3] = [0.2, 0.1, 0.0]
    motion = tr.cartesian.line(
        np.eye(4), end, tr.cartesian.CartesianLimits(linear_velocity=0.3, linear_acceleration=1.0)
    )
    figure = motion.plot(str(tmp_path / "line.png"))
    assert len(figure.axes) == 4 and (tmp_path / "line.png").stat().st_size > 5_000
    assert max(figure.axes[2].lines[0].get_ydata()) == pytest.approx(0.3)
