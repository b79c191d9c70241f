"""The door to the viewer, which is imported only when something is to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot


def open_viewer(robot: Robot, **settings: Any) -> None:
    """Show a robot, or a recording of it, in the browser, until somebody ends it."""
    from kinodyn.viewer import view

    with view(robot, **settings) as viewer:
        viewer.wait()
