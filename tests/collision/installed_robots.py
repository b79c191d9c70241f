"""Robots that tests of collision load by name."""

from __future__ import annotations

import warnings

import pytest

import kinodyn as kd


def load(name: str) -> kd.Robot:
    """Load a robot with its collision shapes, without warnings; skip the test if it is not installed."""
    if name not in kd.robots():
        pytest.skip(f"{name} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name)
        kd.collision.robot_geometry(robot)  # warns of broken meshes only once
    return robot
