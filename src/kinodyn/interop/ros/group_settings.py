"""Settings of a MoveGroup: planner, times, tolerances and scaling factors."""

from __future__ import annotations

from typing import Any

from kinodyn.checks import integer, positive
from kinodyn.errors import InputError, KinodynError, warn
from kinodyn.interop.moveit.config import MoveItConfig
from kinodyn.interop.moveit.kinematics_settings import KinematicsSettings
from kinodyn.model.robot import Robot
from kinodyn.planning.ompl import ompl_planners
from kinodyn.planning.timing import motion_limits

OWN_PLANNERS = ("rrt_connect", "anytime", "prm")


class GroupSettings:
    """The getters and setters of MoveGroupCommander.

    Parameters
    ----------
    name
        Name of the group.
    config
        MoveIt configuration with default tolerances, limits and scaling factors.
    """

    def __init__(self, name: str, config: MoveItConfig | None) -> None:
        self._name, self._config = name, config
        given = config.kinematics.get(name, KinematicsSettings()) if config is not None else KinematicsSettings()
        self._joint_tolerance = given.goal_joint_tolerance or 1e-4
        self._position_tolerance = given.goal_position_tolerance or 1e-4
        self._orientation_tolerance = given.goal_orientation_tolerance or 1e-3
        self._start_tolerance = 0.01  # [rad or m] of trajectory_execution.allowed_start_tolerance
        self._planning_time, self._planner_id, self._pipeline_id, self._attempts = 5.0, "", "", 1
        self._velocity_scaling = 1.0 if config is None else config.limits.velocity_scaling
        self._acceleration_scaling = 1.0 if config is None else config.limits.acceleration_scaling

    def get_name(self) -> str:
        """Return the name of the group."""
        return self._name

    def set_planning_time(self, seconds: float) -> None:
        """Set the time that planning may take [s]."""
        self._planning_time = positive("seconds", seconds)

    def get_planning_time(self) -> float:
        """Return the time that planning may take [s]."""
        return self._planning_time

    def set_planner_id(self, planner_id: str) -> None:
        """Set the planner: one of `plan`, or the name of one of OMPL's, as MoveIt writes it."""
        self._planner_id = planner_id
        self._planner_name()

    def get_planner_id(self) -> str:
        """Return the name of the planner, empty for the default."""
        return self._planner_id

    def set_planning_pipeline_id(self, pipeline_id: str) -> None:
        """Set the name of MoveIt's pipeline, which is kept but has no effect: there is one."""
        self._pipeline_id = pipeline_id

    def get_planning_pipeline_id(self) -> str:
        """Return the name of the pipeline."""
        return self._pipeline_id

    def set_num_planning_attempts(self, num_planning_attempts: int) -> None:
        """Set how often to plan; the shortest path is kept."""
        self._attempts = integer("num_planning_attempts", num_planning_attempts, 1)

    def set_max_velocity_scaling_factor(self, value: float) -> None:
        """Set the factor of the velocity limits, above 0 and at most 1."""
        self._velocity_scaling = _factor(value)

    def set_max_acceleration_scaling_factor(self, value: float) -> None:
        """Set the factor of the acceleration limits, above 0 and at most 1."""
        self._acceleration_scaling = _factor(value)

    def get_goal_tolerance(self) -> tuple[float, float, float]:
        """Return the tolerances of joints, positions and orientations [rad or m], [m], [rad]."""
        return self._joint_tolerance, self._position_tolerance, self._orientation_tolerance

    def get_goal_joint_tolerance(self) -> float:
        """Return the tolerance of joint targets [rad or m]."""
        return self._joint_tolerance

    def get_goal_position_tolerance(self) -> float:
        """Return the tolerance of positions [m]."""
        return self._position_tolerance

    def get_goal_orientation_tolerance(self) -> float:
        """Return the tolerance of orientations [rad]."""
        return self._orientation_tolerance

    def set_goal_tolerance(self, value: float) -> None:
        """Set all tolerances to one value."""
        self._joint_tolerance = self._position_tolerance = self._orientation_tolerance = positive("value", value)

    def set_goal_joint_tolerance(self, value: float) -> None:
        """Set the tolerance of joint targets [rad or m]."""
        self._joint_tolerance = positive("value", value)

    def set_goal_position_tolerance(self, value: float) -> None:
        """Set the tolerance of positions [m]."""
        self._position_tolerance = positive("value", value)

    def set_goal_orientation_tolerance(self, value: float) -> None:
        """Set the tolerance of orientations [rad]."""
        self._orientation_tolerance = positive("value", value)

    def allow_replanning(self, value: bool) -> None:
        """Nothing to set: executions always replan when the world changes."""

    def allow_looking(self, value: bool) -> None:
        """Nothing to set: there are no sensors to point."""

    def _planner_name(self) -> str:
        """Return the planner of `plan` for the requested planner id."""
        name = self._planner_id
        for end in ("kConfigDefault", "kConfig"):
            name = name.removesuffix(end)
        if name in OWN_PLANNERS or name.startswith("ompl:"):
            return name
        if name in ("", "RRTConnect"):
            return OWN_PLANNERS[0]
        try:
            if name in ompl_planners():
                return f"ompl:{name}"
        except KinodynError:
            pass  # OMPL is not installed
        text = f"the planner {self._planner_id!r} is not known here; RRT-Connect plans instead"
        warn(text)
        self._planner_id = OWN_PLANNERS[0]
        return OWN_PLANNERS[0]

    def _scaled_limits(self, robot: Robot, velocity: float | None, acceleration: float | None) -> dict[str, Any]:
        """Return the limits of a trajectory: those of the configuration or of the robot, scaled."""
        given = {} if self._config is None else {**self._config.limits.motion_limits()}
        if self._config is not None:  # its factors are the defaults of this object's
            limits = self._config.limits
            factors = {"velocity": limits.velocity_scaling, "acceleration": limits.acceleration_scaling}
            given = {
                kind: {name: value / factors.get(kind, 1.0) for name, value in values.items()}
                for kind, values in given.items()
            }
        bounds = motion_limits(robot, given.get("velocity"), given.get("acceleration"), given.get("jerk"), None).bounds
        return {
            "velocity": bounds.velocity * (self._velocity_scaling if velocity is None else _factor(velocity)),
            "acceleration": bounds.acceleration
            * (self._acceleration_scaling if acceleration is None else _factor(acceleration)),
            "jerk": bounds.jerk,
        }


def _factor(value: float) -> float:
    factor = positive("value", value)
    if factor > 1.0:
        raise InputError(f"value must be above 0 and at most 1, got {value!r}")
    return factor
