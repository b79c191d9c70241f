"""The one line that opens the viewer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from kinodyn.model.robot import Robot

if TYPE_CHECKING:
    from kinodyn.viewer.playback import Given
    from kinodyn.viewer.viewer import Viewer


def view(
    robot: Robot,
    q: ArrayLike | None = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    recording: Given | None = None,
    show: Iterable[str] = (),
    drag: Sequence[str] | None = None,
    quiet: bool = False,
) -> Viewer:
    """Open a robot in a web page of this machine, print its address, and return the viewer at once.

    See `Viewer` for the arguments. With a recording, it plays. `quiet` prints nothing. The page is there until
    `close()`, or until the program ends; `wait()` keeps a script from ending.

    Example
    -------
    >>> import kinodyn as kd
    >>> with kd.view(kd.load("humanoid"), show=["com", "support"], quiet=True) as viewer:
    ...     viewer.mode
    'pose'
    """
    from kinodyn.viewer.viewer import Viewer  # brings viser, which kinodyn itself does not wait for

    viewer = Viewer(robot, q, host=host, port=port, recording=recording, show=show, drag=drag)
    if recording is not None:
        viewer.play()
    if not quiet:
        print(f"{robot.name} at {viewer.url} (Ctrl-C or close() ends it)", flush=True)
    return viewer
