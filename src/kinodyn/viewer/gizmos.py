"""Gizmos: handles in the scene, one for each frame that can be dragged and one for the CoM."""

from __future__ import annotations

from collections import deque

import viser

from kinodyn.arrays import Array
from kinodyn.viewer.dragging import COM, Dragging
from kinodyn.viewer.snapshot import pose_from_wxyz, wxyz_from_matrix
from kinodyn.viewer.stage import WORLD

SCALE = 0.11  # length of the arrows, relative to the robot's size


class Gizmo:
    """A handle in the scene that a mouse can grab.

    Attributes
    ----------
    handle : viser.TransformControlsHandle
    grabbed : bool
        Whether a mouse has it currently.
    """

    def __init__(self, scene: viser.SceneApi, node: str, size: float, *, rotates: bool = True) -> None:
        self.grabbed = False
        self._moves: deque[Array] = deque(maxlen=1)
        self.handle = scene.add_transform_controls(
            node,
            scale=SCALE * size,
            line_width=3.0,
            disable_rotations=not rotates,
            disable_sliders=True,
            depth_test=False,
        )

        # async, so that viser keeps the order of start, update and end; the viewer's thread collects the moves
        async def on_update(event: viser.TransformControlsEvent) -> None:
            self.grabbed = event.phase != "end"
            if event.phase == "update":
                self.drag(pose_from_wxyz(event.target.wxyz, event.target.position))

        self.handle.on_update(on_update)

    def drag(self, T: Array) -> None:
        """Drag it to a pose (4, 4)."""
        self._moves.append(T)

    def take_move(self) -> Array | None:
        """Return the pose (4, 4) to which it was dragged since the last call; None if it was not."""
        try:
            return self._moves.pop()
        except IndexError:
            return None

    def place(self, pose: Array) -> None:
        """Move it to a pose (4, 4) or a position (3,), unless it is being dragged."""
        if self.grabbed:
            return
        if pose.shape == (3,):
            self.handle.position = pose
        else:
            self.handle.wxyz, self.handle.position = wxyz_from_matrix(pose[:3, :3]), pose[:3, 3]


class Gizmos:
    """The handles of the frames that can be dragged."""

    def __init__(self, scene: viser.SceneApi, dragging: Dragging, q: Array, size: float) -> None:
        self._dragging = dragging
        self._visible = self._allowed = True
        self._gizmos: dict[str, Gizmo] = {}
        for k, name in enumerate(dragging.names):
            rotates = name != COM and dragging.limbs[name].pose
            self._gizmos[name] = Gizmo(scene, f"{WORLD}/drag/{k} {name.replace('/', '|')}", size, rotates=rotates)
        self.handles = {name: gizmo.handle for name, gizmo in self._gizmos.items()}
        self.show(q)

    def take_moves(self) -> dict[str, Array]:
        """Return the poses (4, 4) to which gizmos were dragged since the last call, by name."""
        moves = {name: gizmo.take_move() for name, gizmo in self._gizmos.items()}
        return {name: T for name, T in moves.items() if T is not None}

    @property
    def visible(self) -> bool:
        """Whether gizmos are shown; they are always hidden while something else moves the robot."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = bool(visible)
        self.allow(self._allowed)

    def allow(self, allowed: bool) -> None:
        """Allow or forbid showing them in the current mode."""
        self._allowed = allowed
        for handle in self.handles.values():
            handle.visible = self._visible and allowed

    def show(self, q: Array) -> None:
        """Move each gizmo to its target, or to the current pose of its frame if it has none."""
        for name, gizmo in self._gizmos.items():
            if gizmo.grabbed:
                continue
            pose = self._dragging.targets.get(name)
            gizmo.place(self._dragging.measure(name, q) if pose is None else pose)
