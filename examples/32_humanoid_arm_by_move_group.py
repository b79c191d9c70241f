"""A humanoid's arm with MoveIt's interface: planToPose and planToJointValues plan and execute motions.

The interface is that of MoveIt's MoveGroupCommander; the planner, the controller and the simulated arm are kinodyn's.
Needs `pip install 'kinodyn[ros]'` for the messages. --plot FILE draws the positions of the joints over all motions.
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import kinodyn as kd

ros = kd.interop.ros


class HumanoidArm:
    """Plans and executes motions of one arm of a humanoid.

    Parameters
    ----------
    session
        The robot with its world and its controllers.
    group
        Name of the arm.
    """

    def __init__(self, session: Any, group: str) -> None:
        self.group = ros.MoveGroup(group, session=session)
        self.group.set_max_velocity_scaling_factor(0.1)
        self.group.set_max_acceleration_scaling_factor(0.1)
        self.session = session
        self.recordings: list[kd.Recording] = []

    def planToPose(self, position: ArrayLike, rpy: ArrayLike) -> bool:  # noqa: N802
        """Move the hand to a position [m] and an orientation, roll pitch yaw [rad], in the world."""
        x, y, z = np.asarray(position)
        self.group.set_pose_target([x, y, z, *np.asarray(rpy)])
        return self._plan_and_execute(f"hand to ({x:.2f}, {y:.2f}, {z:.2f})")

    def planToJointValues(self, values: dict[str, float]) -> bool:  # noqa: N802
        """Move joints to positions [rad]; the others stay."""
        self.group.set_joint_value_target(values)
        return self._plan_and_execute(", ".join(f"{name} to {value:.2f}" for name, value in values.items()))

    def _plan_and_execute(self, title: str) -> bool:
        success, trajectory, _, code = self.group.plan()
        if not success:
            print(f"{title}: no plan, {code.message}")
            return False
        done = self.group.execute(trajectory)
        self.recordings.append(self.session.last.recording)
        end = trajectory.joint_trajectory.points[-1].time_from_start
        print(f"{title}: done in {end.sec + 1e-9 * end.nanosec:.1f} s")
        return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()

    robot = kd.load("humanoid", base="fixed")
    session = ros.start(robot, q=robot.configuration("standing"))
    scene = ros.PlanningSceneInterface()
    scene.add_box("table", [0.50, 0.0, 0.0], size=(0.5, 1.0, 0.04))  # the pelvis is the origin

    arm = HumanoidArm(session, "left_arm")
    palm = kd.kinematics.pose(robot, session.q, arm.group.get_end_effector_link())
    arm.planToJointValues({"left_elbow": -1.2})
    raised = kd.kinematics.pose(robot, session.q, arm.group.get_end_effector_link())
    rpy = kd.spatial.as_euler(raised[:3, :3], "ZYX")[::-1]
    target = raised[:3, 3] + [0.05, 0.10, 0.05]
    arm.planToPose(target, rpy)
    reached = arm.group.get_current_pose().pose.position
    error = np.linalg.norm(target - [reached.x, reached.y, reached.z])
    print(f"the hand is within {'a' if error < 1e-3 else 'more than a'} millimetre of its target")
    arm.planToPose([3.0, 0.0, 1.0], rpy)
    arm.planToPose(palm[:3, 3], kd.spatial.as_euler(palm[:3, :3], "ZYX")[::-1])

    if arguments.plot:
        draw(arm, arguments.plot)


def draw(arm: HumanoidArm, path: str) -> None:
    """Draw the positions of the arm's joints over all motions."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
    names, begin = arm.group.get_active_joints(), 0.0
    columns = [arm.recordings[0].q_names.index(name) for name in names]
    for k, recording in enumerate(arm.recordings):
        axis.set_prop_cycle(None)
        axis.plot(begin + recording.time, recording.q[:, columns], label=names if k == 0 else None)
        begin += recording.duration
        axis.axvline(begin, color="0.8", linewidth=1)
    axis.set(xlabel="time [s]", ylabel="position [rad]", title="Joints of the left arm")
    axis.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
