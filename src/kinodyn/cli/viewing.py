"""The door to the viewer, which is imported only when something is to be seen."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kinodyn.errors import KinodynError

if TYPE_CHECKING:
    from kinodyn.robot import Robot


def open_viewer(robot: Robot, **settings: Any) -> None:
    """Show a robot, or a recording of it, in the browser, until somebody ends it."""
    try:
        viewer = importlib.import_module("kinodyn.viewer")
    except ModuleNotFoundError as cause:
        raise KinodynError(f"the viewer cannot be started: {cause}") from cause
    shown = viewer.view(robot, **settings)
    if hasattr(shown, "wait"):
        shown.wait()
