"""A script as tutorials of moveit_commander show it; only the import of MoveIt and its messages is another."""

import copy
import sys
from math import cos, dist, fabs, pi

from kinodyn.interop.ros import geometry_msgs, moveit_commander, moveit_msgs
from kinodyn.interop.ros.moveit_commander import conversions


def all_close(goal, actual, tolerance):
    if isinstance(goal, list):
        return all(abs(a - g) <= tolerance for a, g in zip(actual, goal, strict=True))
    if hasattr(goal, "pose"):
        return all_close(goal.pose, actual.pose, tolerance)
    x0, y0, z0, qx0, qy0, qz0, qw0 = conversions.pose_to_list(actual)
    x1, y1, z1, qx1, qy1, qz1, qw1 = conversions.pose_to_list(goal)
    d = dist((x1, y1, z1), (x0, y0, z0))
    cos_phi_half = fabs(qx0 * qx1 + qy0 * qy1 + qz0 * qz1 + qw0 * qw1)
    return d <= tolerance and cos_phi_half >= cos(tolerance / 2.0)


class MoveGroupTutorial:
    def __init__(self):
        moveit_commander.roscpp_initialize(sys.argv)
        self.robot = moveit_commander.RobotCommander()
        self.scene = moveit_commander.PlanningSceneInterface()
        self.move_group = moveit_commander.MoveGroupCommander("arm")
        print("Planning frame:", self.move_group.get_planning_frame())
        print("End effector link:", self.move_group.get_end_effector_link())
        print("Groups:", self.robot.get_group_names())

    def go_to_joint_state(self):
        joint_goal = self.move_group.get_current_joint_values()
        joint_goal[0] = 0
        joint_goal[1] = -pi / 4
        joint_goal[2] = 0
        joint_goal[3] = -pi / 2
        joint_goal[4] = 0
        joint_goal[5] = pi / 3
        joint_goal[6] = 0
        self.move_group.go(joint_goal, wait=True)
        self.move_group.stop()
        return all_close(joint_goal, self.move_group.get_current_joint_values(), 0.01)

    def go_to_pose_goal(self):
        pose_goal = geometry_msgs.msg.Pose()
        pose_goal.orientation.x = 1.0
        pose_goal.orientation.w = 0.0
        pose_goal.position.x = 0.4
        pose_goal.position.y = 0.1
        pose_goal.position.z = 0.4
        self.move_group.set_pose_target(pose_goal)
        self.move_group.go(wait=True)
        self.move_group.stop()
        self.move_group.clear_pose_targets()
        return all_close(pose_goal, self.move_group.get_current_pose().pose, 0.01)

    def plan_cartesian_path(self, scale=1):
        waypoints = []
        wpose = self.move_group.get_current_pose().pose
        wpose.position.z -= scale * 0.1
        wpose.position.y += scale * 0.2
        waypoints.append(copy.deepcopy(wpose))
        wpose.position.x += scale * 0.1
        waypoints.append(copy.deepcopy(wpose))
        wpose.position.y -= scale * 0.1
        waypoints.append(copy.deepcopy(wpose))
        return self.move_group.compute_cartesian_path(waypoints, 0.01, 0.0)

    def display_trajectory(self, plan):
        display_trajectory = moveit_msgs.msg.DisplayTrajectory()
        display_trajectory.trajectory_start = self.robot.get_current_state()
        display_trajectory.trajectory.append(plan)
        return display_trajectory

    def wait_for_state_update(self, box_is_known=False, box_is_attached=False):
        is_attached = len(self.scene.get_attached_objects(["box"]).keys()) > 0
        is_known = "box" in self.scene.get_known_object_names()
        return box_is_attached == is_attached and box_is_known == is_known

    def add_box(self):
        box_pose = geometry_msgs.msg.PoseStamped()
        box_pose.header.frame_id = "panda_hand_tcp"
        box_pose.pose.orientation.w = 1.0
        box_pose.pose.position.z = 0.06
        self.scene.add_box("box", box_pose, size=(0.05, 0.05, 0.05))
        return self.wait_for_state_update(box_is_known=True)

    def attach_box(self):
        touch_links = self.robot.get_link_names(group="arm")
        self.scene.attach_box("panda_hand_tcp", "box", touch_links=touch_links)
        return self.wait_for_state_update(box_is_attached=True, box_is_known=False)

    def detach_box(self):
        self.scene.remove_attached_object("panda_hand_tcp", name="box")
        return self.wait_for_state_update(box_is_known=True, box_is_attached=False)

    def remove_box(self):
        self.scene.remove_world_object("box")
        return self.wait_for_state_update(box_is_attached=False, box_is_known=False)


def main():
    tutorial = MoveGroupTutorial()
    done = [tutorial.go_to_joint_state(), tutorial.go_to_pose_goal()]
    cartesian_plan, fraction = tutorial.plan_cartesian_path()
    tutorial.display_trajectory(cartesian_plan)
    done += [fraction == 1.0, tutorial.move_group.execute(cartesian_plan, wait=True)]
    done += [tutorial.add_box(), tutorial.attach_box()]
    cartesian_plan, fraction = tutorial.plan_cartesian_path(scale=-1)
    done += [tutorial.move_group.execute(cartesian_plan, wait=True), tutorial.detach_box(), tutorial.remove_box()]
    print("steps done:", sum(done), "of", len(done))


if __name__ == "__main__":
    main()
