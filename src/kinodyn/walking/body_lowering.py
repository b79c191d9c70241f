"""Lower the body where the leg of the front foot would be too short to reach the ground.

The plan models legs only roughly; the actual positions of the hips, under a trunk that leans and turns, are measured.
"""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.model.state import State
from kinodyn.walking.biped import Biped
from kinodyn.walking.leg_reach import LegReach
from kinodyn.walking.planner import Planner
from kinodyn.walking.reference import Reference

# Parts of a swing: from the first on the body is lowered as its foot needs, from the last fully.
REACHING = (0.4, 0.8)
RECOVERY_REACHING = (0.0, 0.3)  # of a step that changes after a push: it is short


class BodyLowering:
    """Computes by how much the CoM has to be lower than planned, over terrain or for a step that changes after a push.

    Parameters
    ----------
    body, planner
    """

    def __init__(self, body: Biped, planner: Planner) -> None:
        self.body, self.planner = body, planner
        self._reach = {side: LegReach(body.robot, knee, body.q) for side, knee in body.knees.items()}

    def __call__(self, t: float, state: State, reference: Reference) -> float:
        """Compute how much is missing for the foot that lands, or has landed last, to reach the ground.

        Parameters
        ----------
        t
            [s]
        state
            Measured state.
        reference
            References at that time.

        Returns
        -------
        float
            [m]; 0 on level ground as long as no step changes after a push.
        """
        phase, level = reference.phase, self.planner.terrain is None
        if phase.kind not in ("single", "double"):
            return 0.0
        if level and (phase.swing is None or not self.planner.recovering or not self.planner.pushed(t)):
            return 0.0
        if phase.swing is None:
            side = list(phase.feet)[-1]
            return self._missing(side, reference.feet[side].pose, state, np.zeros(3))
        begin, end = RECOVERY_REACHING if level else REACHING
        share = ((t - phase.start) / phase.length - begin) / (end - begin)
        if share <= 0.0:
            return 0.0
        touchdown = self.planner.reference(phase.end - 1e-9)
        side = phase.swing.side
        missing = self._missing(side, touchdown.feet[side].pose, state, touchdown.com - state.com)
        return missing * min(share, 1.0)

    def _missing(self, side: str, T_world_sole: Array, state: State, shift: Array) -> float:
        foot = self.body.feet[side]
        return self._reach[side].missing_height(state, foot.frame, foot.frame_pose(T_world_sole), shift)
