"""Walking: footsteps, contact schedules, MPC of the LIPM, swing feet, and a torque controller that walks.

    Biped.from_robot(robot) -> GaitSettings, StepLimits -> footsteps -> ContactSchedule -> MPC -> Planner
        -> WalkingController -> walk, push_map

>>> import kinodyn as kd
>>> pattern = kd.walking.walking_pattern(kd.load("humanoid"), velocity=[0.3, 0, 0], steps=2)
>>> [step.side for step in pattern.footsteps]
['left', 'right', 'left']
"""

from kinodyn.walking.biped import Biped
from kinodyn.walking.carrying import Carrying
from kinodyn.walking.controller import WalkingController
from kinodyn.walking.default_speed import default_speed
from kinodyn.walking.engines import make_simulator
from kinodyn.walking.footstep_search import FootstepPlan, plan_footsteps
from kinodyn.walking.footsteps import (
    Footstep,
    StepTiming,
    closing_step,
    footsteps_from_velocity,
    next_step,
    standing_feet,
    walk_to,
)
from kinodyn.walking.hand_support import HandSupport
from kinodyn.walking.hands import hands
from kinodyn.walking.lipm_trajectory import LIPMState, LIPMTrajectory
from kinodyn.walking.mpc import MPC, MPCPlan
from kinodyn.walking.pattern import Feasibility, Pattern, walking_pattern
from kinodyn.walking.phases import Phase
from kinodyn.walking.planner import Planner
from kinodyn.walking.preview_control import PreviewControl, PreviewTrajectory
from kinodyn.walking.push_maps import PushMap, impulse_push, push_map, survives_push
from kinodyn.walking.reference import FootReference, Reference
from kinodyn.walking.result import WalkResult
from kinodyn.walking.schedule import ContactSchedule
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.state_estimation import EstimatingController
from kinodyn.walking.step_adaptation import AdaptedStep, adapt_step
from kinodyn.walking.step_limits import StepLimits, feet_apart
from kinodyn.walking.swing import SwingTrajectory
from kinodyn.walking.terrain_limits import TerrainLimits
from kinodyn.walking.terrain_settings import TerrainSettings
from kinodyn.walking.upper_body import UpperBody
from kinodyn.walking.walk import walk
from kinodyn.walking.weights import AdaptationWeights, MPCWeights, TrackingGains

__all__ = [
    "MPC",
    "AdaptationWeights",
    "AdaptedStep",
    "Biped",
    "Carrying",
    "ContactSchedule",
    "EstimatingController",
    "Feasibility",
    "FootReference",
    "Footstep",
    "FootstepPlan",
    "GaitSettings",
    "HandSupport",
    "LIPMState",
    "LIPMTrajectory",
    "MPCPlan",
    "MPCWeights",
    "Pattern",
    "Phase",
    "Planner",
    "PreviewControl",
    "PreviewTrajectory",
    "PushMap",
    "Reference",
    "StepLimits",
    "StepTiming",
    "SwingTrajectory",
    "TerrainLimits",
    "TerrainSettings",
    "TrackingGains",
    "UpperBody",
    "WalkResult",
    "WalkingController",
    "adapt_step",
    "closing_step",
    "default_speed",
    "feet_apart",
    "footsteps_from_velocity",
    "hands",
    "impulse_push",
    "make_simulator",
    "next_step",
    "plan_footsteps",
    "push_map",
    "standing_feet",
    "survives_push",
    "walk",
    "walk_to",
    "walking_pattern",
]


def __dir__() -> list[str]:
    return list(__all__)
