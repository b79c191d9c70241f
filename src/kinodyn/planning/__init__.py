"""Motion planning: collision-free paths from a start to a goal."""

from kinodyn.planning.cartesian import CartesianPlan, plan_cartesian
from kinodyn.planning.constraint_set import Deviation
from kinodyn.planning.constraints import (
    Constraint,
    FixedOrientation,
    FixedRelativePose,
    InBox,
    OnLine,
    OnPlane,
    Upright,
)
from kinodyn.planning.execution import execute
from kinodyn.planning.execution_run import Execution
from kinodyn.planning.motion_planner import MotionPlanner
from kinodyn.planning.moving_obstacles import MovingObstacle
from kinodyn.planning.ompl import ompl_planners, plan_with_ompl
from kinodyn.planning.plan import plan
from kinodyn.planning.range_constraints import InRegion, JointRange
from kinodyn.planning.reactive import ReactiveMotion
from kinodyn.planning.reactive_step import ReactiveStep
from kinodyn.planning.regions import PoseRegion, grasp_poses
from kinodyn.planning.result import Plan
from kinodyn.planning.roadmap import Roadmap
from kinodyn.planning.settings import PlannerSettings
from kinodyn.planning.standing import Standing

__all__ = [
    "CartesianPlan",
    "Constraint",
    "Deviation",
    "Execution",
    "FixedOrientation",
    "FixedRelativePose",
    "InBox",
    "InRegion",
    "JointRange",
    "MotionPlanner",
    "MovingObstacle",
    "OnLine",
    "OnPlane",
    "Plan",
    "PlannerSettings",
    "PoseRegion",
    "ReactiveMotion",
    "ReactiveStep",
    "Roadmap",
    "Standing",
    "Upright",
    "execute",
    "grasp_poses",
    "ompl_planners",
    "plan",
    "plan_cartesian",
    "plan_with_ompl",
]


def __dir__() -> list[str]:
    return list(__all__)
