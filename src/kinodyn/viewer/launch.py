"""Open the viewer with one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.model.robot import Robot

if TYPE_CHECKING:
    from kinodyn.planning import Plan
    from kinodyn.viewer.playback import Recordings
    from kinodyn.viewer.viewer import Viewer


@check_types
def view(
    robot: Robot,
    q: ArrayLike | None = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    recording: Recordings | None = None,
    show: Iterable[str] = (),
    drag: Sequence[str] | None = None,
    world: World | WorldSnapshot | None = None,
    plan: Plan | None = None,
    quiet: bool = False,
) -> Viewer:
    """Serve a web page with a robot, print its address and return the viewer immediately.

    The page exists until `close()` or the end of the program; `wait()` keeps a script running.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array, optional
        Initial configuration; by default a named one such as "standing" or "ready", with the robot on the ground.
    host : str
        Address to listen on. Only this machine can reach 127.0.0.1; any other host raises a warning.
    port : int, optional
        Port to listen on; by default a free one.
    recording : Recording, or a list or dict of them, optional
        Motions to play, side by side; playback starts immediately.
    show : iterable of str
        Layers that are on initially, see `Viewer.layer`.
    drag : sequence of str, optional
        Frames that can be dragged; by default hands, feet and tools.
    world : World or WorldSnapshot, optional
        Obstacles. Changes of a World are drawn.
    plan : Plan, optional
        A plan to show, with its world.
    quiet : bool
        Do not print the address.

    Returns
    -------
    Viewer

    Examples
    --------
    >>> import kinodyn as kd
    >>> with kd.view(kd.load("humanoid"), show=["com", "support"], quiet=True) as viewer:
    ...     viewer.mode
    'pose'
    """
    from kinodyn.viewer.viewer import Viewer  # imports viser, which takes a second

    viewer = Viewer(
        robot,
        q,
        host=host,
        port=port,
        recording=recording,
        show=show,
        drag=drag,
        world=plan.world if world is None and plan is not None else world,
    )
    if recording is not None:
        viewer.play()
    if plan is not None:
        viewer.show_plan(plan)
    if not quiet:
        print(f"{robot.name} at {viewer.url} (Ctrl-C or close() stops it)", flush=True)
    return viewer
