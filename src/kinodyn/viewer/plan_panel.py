"""The tab Plan: the state of the plan, its goal, what can be dragged, and its timeline."""

from __future__ import annotations

import viser

from kinodyn.viewer.gui import InputSync
from kinodyn.viewer.play_panel import Timeline
from kinodyn.viewer.protocol import PlanControls

DRAGGED = "as dragged"
NOTHING = "nothing"


class PlanPanel:
    """State, goal, start, gizmo of an object, timeline."""

    def __init__(self, viewer: PlanControls, gui: viser.GuiApi) -> None:
        self._viewer, self._sync = viewer, InputSync()
        planning = viewer.planning
        self._status = gui.add_markdown(planning.summary())
        self._goal = gui.add_dropdown("Goal", (DRAGGED, *viewer.robot.configurations), initial_value=DRAGGED)
        self._goal.on_update(self._set_goal)
        here = gui.add_button("Plan from here", hint="from the configuration that is shown")
        here.on_click(lambda _: viewer.attempt(lambda: viewer.replan(start=viewer.q)))
        live = gui.add_checkbox("Replan on changes", planning.live)
        live.on_update(lambda event: setattr(planning, "live", bool(event.target.value)))
        self._object = gui.add_dropdown("Move object", self._names(), initial_value=NOTHING, hint="or click it")
        self._object.on_update(self._select)
        self._timeline = Timeline(viewer, gui, planning.player, "plan", play=viewer.play_plan, seek=viewer.seek_plan)

    def refresh(self) -> None:
        """Show the current state."""
        planning = self._viewer.planning
        if self._status.content != planning.summary():
            self._status.content = planning.summary()
        names = self._names()
        if self._object.options != names:
            self._object.options = names
        self._sync.assign(self._object, planning.selected or NOTHING)
        self._timeline.refresh()

    def _names(self) -> tuple[str, ...]:
        free = [thing.name for thing in self._viewer.planning.world if thing.attached_to is None]
        return (NOTHING, *free)

    def _set_goal(self, event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
        goal = event.target.value
        if event.client_id is not None and goal != DRAGGED:
            self._viewer.attempt(lambda: self._viewer.replan(goal=goal))

    def _select(self, event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
        name = event.target.value
        if event.client_id is not None:
            self._viewer.attempt(lambda: self._viewer.select(None if name == NOTHING else name))
