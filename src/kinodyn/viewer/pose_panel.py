"""The tabs Joints (named configurations, sliders), Drag (targets) and Show (layers)."""

from __future__ import annotations

from collections.abc import Callable

import viser

from kinodyn.viewer.gui import InputSync
from kinodyn.viewer.overlays import LAYERS, TITLES
from kinodyn.viewer.protocol import ViewerControls
from kinodyn.viewer.sliders import Sliders

START, NEUTRAL, RANDOM = "initial", "neutral", "random"
MAX_FRAMES = 200  # in the list of frames


class PosePanel:
    """Named configurations, and a slider for each coordinate."""

    def __init__(self, viewer: ViewerControls, gui: viser.GuiApi) -> None:
        self._viewer = viewer
        choices = (START, NEUTRAL, *viewer.robot.configurations, RANDOM)
        self._choice = gui.add_dropdown("Configuration", tuple(dict.fromkeys(choices)), initial_value=START)
        gui.add_button("Set configuration").on_click(lambda _: viewer.attempt(self._set_configuration))
        self.sliders = Sliders(gui, viewer.robot, viewer.q, viewer.set_coordinate)
        self._random_count = 0

    def _set_configuration(self) -> None:
        robot, choice = self._viewer.robot, self._choice.value
        if choice == START:
            q = self._viewer.q_start
        elif choice in robot.configurations:
            q = self._viewer.grounded(robot.configuration(choice))
        elif choice == NEUTRAL:
            q = self._viewer.grounded(robot.neutral())
        else:
            self._random_count += 1
            q = robot.random(seed=self._random_count)
            if robot.base == "floating":
                q[:7] = self._viewer.q_start[:7]
        self._viewer.show(q)


class DragPanel:
    """Visibility of the gizmos, and the current targets."""

    def __init__(self, viewer: ViewerControls, gui: viser.GuiApi) -> None:
        names = ", ".join(viewer.dragging.names)
        gui.add_markdown(f"Drag a gizmo; the whole body follows. Frames: {names}.")
        shown = gui.add_checkbox("Show gizmos", viewer.gizmos.visible)
        release = gui.add_button("Release all")
        self._status = gui.add_markdown("")
        shown.on_update(lambda event: viewer.attempt(lambda: setattr(viewer.gizmos, "visible", event.target.value)))
        release.on_click(lambda _: viewer.attempt(viewer.release))
        self._viewer = viewer
        self.refresh()

    def refresh(self) -> None:
        """Show the current targets and whether they are reached."""
        viewer = self._viewer
        targets = list(viewer.dragging.targets)
        if not targets:
            text = "No targets."
        elif viewer.dragging.reached(viewer.q):
            text = f"Reached: {', '.join(targets)}."
        else:
            text = f"Not reached: {', '.join(targets)}."
        if text != self._status.content:
            self._status.content = text


class ShowPanel:
    """A checkbox for each layer."""

    def __init__(self, viewer: ViewerControls, gui: viser.GuiApi) -> None:
        self._boxes = {layer: gui.add_checkbox(TITLES[layer], layer in viewer.layers.on) for layer in LAYERS}
        for layer, box in self._boxes.items():
            box.on_update(self._layer_callback(viewer, layer))
        frames = viewer.robot.frame_names[:MAX_FRAMES]
        names = tuple(dict.fromkeys((viewer.layers.frame, *frames)))
        self._frame = gui.add_dropdown(
            "Frame", names, initial_value=viewer.layers.frame, hint="of the ellipsoid and the workspace"
        )
        self._frame.on_update(lambda event: self._choose(viewer, event))
        self._viewer, self._sync = viewer, InputSync()

    def refresh(self) -> None:
        """Show changes made by the program or in another page."""
        for layer, box in self._boxes.items():
            self._sync.assign(box, layer in self._viewer.layers.on)

    def _layer_callback(
        self, viewer: ViewerControls, layer: str
    ) -> Callable[[viser.GuiEvent[viser.GuiCheckboxHandle]], None]:
        def switch(event: viser.GuiEvent[viser.GuiCheckboxHandle]) -> None:
            if event.client_id is not None:
                viewer.attempt(lambda: viewer.layer(layer, event.target.value))

        return switch

    def _choose(self, viewer: ViewerControls, event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
        if event.client_id is not None:
            viewer.attempt(lambda: setattr(viewer, "frame", event.target.value))
