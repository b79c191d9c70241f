"""Walking: footsteps, swing feet, the pendulum's plan, and the planner that does it all while walking.

    Biped.of(robot) -> StepLimits, Timing -> footsteps -> Schedule -> MPC or Preview -> Pattern, or Planner at run time

>>> import kinodyn as kd
>>> pattern = kd.walking.walking_pattern(kd.load("humanoid"), velocity=[0.3, 0, 0], steps=2)
>>> [step.side for step in pattern.footsteps]
['left', 'right', 'left']
"""

from kinodyn.walking.adaptation import StepChange, adapt_step
from kinodyn.walking.biped import Biped
from kinodyn.walking.controller import WalkingController
from kinodyn.walking.footsteps import (
    Footstep,
    closing_step,
    follow,
    next_step,
    standing_feet,
    walk_to,
)
from kinodyn.walking.mpc import MPC, Plan, Weights
from kinodyn.walking.path import Motion, PendulumPath
from kinodyn.walking.pattern import Feasibility, Pattern, walking_pattern
from kinodyn.walking.phases import Phase, Timing
from kinodyn.walking.planner import Planner
from kinodyn.walking.preview import Preview, PreviewPath
from kinodyn.walking.pushes import PushMap, push_map
from kinodyn.walking.reference import FootReference, Reference
from kinodyn.walking.result import WalkResult
from kinodyn.walking.schedule import Schedule
from kinodyn.walking.steplimits import StepLimits, feet_apart
from kinodyn.walking.swing import Swing
from kinodyn.walking.walk import walk

__all__ = [
    "MPC",
    "Biped",
    "Feasibility",
    "FootReference",
    "Footstep",
    "Motion",
    "Pattern",
    "PendulumPath",
    "Phase",
    "Plan",
    "Planner",
    "Preview",
    "PreviewPath",
    "PushMap",
    "Reference",
    "Schedule",
    "StepChange",
    "StepLimits",
    "Swing",
    "Timing",
    "WalkResult",
    "WalkingController",
    "Weights",
    "adapt_step",
    "closing_step",
    "feet_apart",
    "follow",
    "next_step",
    "push_map",
    "standing_feet",
    "walk",
    "walk_to",
    "walking_pattern",
]
