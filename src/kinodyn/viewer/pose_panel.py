"""The panels of a pose: named configurations and joint sliders; what can be dragged; what is drawn with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import viser

from kinodyn.viewer.gui import Shown
from kinodyn.viewer.overlays import LAYERS, TITLES
from kinodyn.viewer.sliders import Sliders

if TYPE_CHECKING:
    from kinodyn.viewer.viewer import Viewer

START, NEUTRAL, RANDOM = "as at the start", "neutral", "random"
MOST_FRAMES = 200  # in a list of frames


class PosePanel:
    """Named configurations, and a slider for each joint."""

    def __init__(self, viewer: Viewer, gui: viser.GuiApi) -> None:
        self._viewer = viewer
        choices = (START, NEUTRAL, *viewer.robot.configurations, RANDOM)
        self._choice = gui.add_dropdown("Pose", tuple(dict.fromkeys(choices)), initial_value=START)
        gui.add_button("Take this pose").on_click(lambda _: viewer.attempt(self._take))
        self.sliders = Sliders(gui, viewer.robot, viewer.q, viewer.turn)
        self._draws = 0

    def _take(self) -> None:
        robot, choice = self._viewer.robot, self._choice.value
        if choice == START:
            q = self._viewer.q_start
        elif choice in robot.configurations:
            q = self._viewer.grounded(robot.configuration(choice))
        elif choice == NEUTRAL:
            q = self._viewer.grounded(robot.neutral())
        else:
            self._draws += 1
            q = robot.random(seed=self._draws)
            if robot.base == "floating":
                q[:7] = self._viewer.q_start[:7]
        self._viewer.show(q)


class DragPanel:
    """Whether gizmos are shown, and what is held."""

    def __init__(self, viewer: Viewer, gui: viser.GuiApi) -> None:
        names = ", ".join(viewer.dragging.names)
        gui.add_markdown(f"Drag a gizmo; the whole body follows. Targets: {names}.")
        shown = gui.add_checkbox("Show gizmos", viewer.gizmos.visible)
        release = gui.add_button("Release all")
        self._held = gui.add_markdown("")
        shown.on_update(lambda event: viewer.attempt(lambda: setattr(viewer.gizmos, "visible", event.target.value)))
        release.on_click(lambda _: viewer.attempt(viewer.release))
        self._viewer = viewer
        self.refresh()

    def refresh(self) -> None:
        """Tell what is held and whether it is reached."""
        viewer = self._viewer
        held = list(viewer.dragging.held)
        if not held:
            text = "Nothing is held."
        elif viewer.dragging.reached(viewer.q):
            text = f"Held and reached: {', '.join(held)}."
        else:
            text = f"Held, not reached: {', '.join(held)}."
        if text != self._held.content:
            self._held.content = text


class ShowPanel:
    """A switch for each layer."""

    def __init__(self, viewer: Viewer, gui: viser.GuiApi) -> None:
        self._boxes = {layer: gui.add_checkbox(TITLES[layer], layer in viewer.switches.on) for layer in LAYERS}
        for layer, box in self._boxes.items():
            box.on_update(self._switcher(viewer, layer))
        frames = viewer.robot.frame_names[:MOST_FRAMES]
        names = tuple(dict.fromkeys((viewer.switches.frame, *frames)))
        self._frame = gui.add_dropdown(
            "of frame", names, initial_value=viewer.switches.frame, hint="for ellipsoid and workspace"
        )
        self._frame.on_update(lambda event: self._choose(viewer, event))
        self._viewer, self._shown = viewer, Shown()

    def refresh(self) -> None:
        """Show what was switched from elsewhere."""
        for layer, box in self._boxes.items():
            self._shown.assign(box, layer in self._viewer.switches.on)

    def _switcher(self, viewer: Viewer, layer: str) -> Callable[[viser.GuiEvent[viser.GuiCheckboxHandle]], None]:
        def switch(event: viser.GuiEvent[viser.GuiCheckboxHandle]) -> None:
            if event.client_id is not None:
                viewer.attempt(lambda: viewer.layer(layer, event.target.value))

        return switch

    def _choose(self, viewer: Viewer, event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
        if event.client_id is not None:
            viewer.attempt(lambda: setattr(viewer, "frame", event.target.value))
