"""Gizmos: handles in the scene, one for each frame that can be dragged and one for the CoM."""

from __future__ import annotations

import viser

from kinodyn.arrays import Array
from kinodyn.viewer.dragging import COM, Dragging
from kinodyn.viewer.snapshot import pose_from_wxyz, wxyz_from_matrix
from kinodyn.viewer.stage import WORLD


class Gizmos:
    """The handles in the scene that a mouse can grab."""

    def __init__(self, scene: viser.SceneApi, dragging: Dragging, q: Array, size: float) -> None:
        self._dragging, self._grabbed = dragging, set[str]()
        self._visible = self._allowed = True
        self._moved: dict[str, Array] = {}
        self.handles: dict[str, viser.TransformControlsHandle] = {}
        for k, name in enumerate(dragging.names):
            self.handles[name] = self._add(scene, f"{WORLD}/drag/{k} {name.replace('/', '|')}", name, size)
        self.show(q)

    def take_moves(self) -> dict[str, Array]:
        """Return the poses (4, 4) to which gizmos were dragged since the last call, by name."""
        moved = {}
        while self._moved:
            name, T = self._moved.popitem()
            moved[name] = T
        return moved

    @property
    def visible(self) -> bool:
        """Whether gizmos are shown; they are always hidden while a recording or a walk moves the robot."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = bool(visible)
        self.allow(self._allowed)

    def allow(self, allowed: bool) -> None:
        """Allow or forbid showing them in the present mode."""
        self._allowed = allowed
        for handle in self.handles.values():
            handle.visible = self._visible and allowed

    def show(self, q: Array) -> None:
        """Move each gizmo to its target, or to the present pose of its frame if it has none."""
        for name, handle in self.handles.items():
            if name in self._grabbed:
                continue  # being dragged
            pose = self._dragging.targets.get(name)
            if pose is None:
                pose = self._dragging.measure(name, q)
            if pose.shape == (3,):
                handle.position = pose
            else:
                handle.wxyz, handle.position = wxyz_from_matrix(pose[:3, :3]), pose[:3, 3]

    def _add(self, scene: viser.SceneApi, node: str, name: str, size: float) -> viser.TransformControlsHandle:
        rotates = name != COM and self._dragging.limbs[name].pose
        handle = scene.add_transform_controls(
            node,
            scale=0.11 * size,
            line_width=3.0,
            disable_rotations=not rotates,
            disable_sliders=True,
            depth_test=False,
        )

        # async, so that viser keeps the order of start, update and end; the viewer's thread collects the moves
        async def on_update(event: viser.TransformControlsEvent) -> None:
            if event.phase == "end":
                self._grabbed.discard(name)
            else:
                self._grabbed.add(name)
            if event.phase == "update":
                self._moved[name] = pose_from_wxyz(event.target.wxyz, event.target.position)

        handle.on_update(on_update)
        return handle
