"""Open the viewer from a command; it is imported only when it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot


def open_viewer(robot: Robot, **settings: Any) -> None:
    """Show a robot, or a recording of it, in the browser until the viewer is closed or Ctrl-C is pressed."""
    from kinodyn.viewer import view

    with view(robot, **settings) as viewer:
        viewer.wait()
