"""Open the viewer from a command; it is imported only when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot
    from kinodyn.viewer import Viewer


def open_viewer(robot: Robot, *, prepare: Callable[[Viewer], object] | None = None, **settings: Any) -> None:
    """Show a robot, or a recording of it, in the browser until the viewer is closed or Ctrl-C is pressed.

    Parameters
    ----------
    robot
    prepare
        Called with the viewer once it is open.
    **settings
        Keyword arguments of `kinodyn.view`.
    """
    from kinodyn.viewer import view

    with view(robot, **settings) as viewer:
        if prepare is not None:
            prepare(viewer)
        viewer.wait()
