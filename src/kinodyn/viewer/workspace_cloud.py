"""The workspace of a frame as a point cloud, computed in a background thread."""

from __future__ import annotations

import threading

import numpy as np
import viser

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.kinematics.workspaces import workspace
from kinodyn.model.chain import moving_joints
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose
from kinodyn.viewer.snapshot import wxyz_from_matrix

SAMPLES = 2**15


class WorkspaceCloud:
    """The point cloud of one robot: computed once per frame in a background thread, then moved with the base."""

    def __init__(self, scene: viser.SceneApi, robot: Robot, name: str, size: float) -> None:
        self.scene, self.robot, self.name, self.size = scene, robot, name, size
        self._clouds: dict[str, tuple[Array, Array]] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._node: viser.PointCloudHandle | None = None
        self._drawn = ""

    def draw(self, q: Array, frame: str) -> bool:
        """Draw the cloud of a frame once it is computed; return whether it is."""
        if frame not in self._clouds:
            self._start(frame)
            return self.hide()
        if self._drawn != frame:
            points, colours = self._clouds[frame]
            self._node = self.scene.add_point_cloud(
                self.name, points, colours, point_size=0.005 * self.size, point_shape="circle", precision="float32"
            )
            self._drawn = frame
        assert self._node is not None
        if self.robot.base == "floating":  # the cloud was computed with the base at its neutral pose
            base = self.robot.joints[0].child
            T = kinematics.pose(self.robot, q, base) @ inverse_pose(
                kinematics.pose(self.robot, self.robot.neutral(), base)
            )
            self._node.wxyz, self._node.position = wxyz_from_matrix(T[:3, :3]), T[:3, 3]
        self._node.visible = True
        return True

    def hide(self) -> bool:
        """Hide the cloud; return False."""
        if self._node is not None:
            self._node.visible = False
        return False

    def wait(self) -> None:
        """Wait until all requested clouds are computed."""
        for thread in list(self._threads.values()):
            thread.join()

    def _start(self, frame: str) -> None:
        if frame not in self._threads:
            thread = threading.Thread(target=self._compute, args=(frame,), daemon=True, name=f"workspace of {frame}")
            self._threads[frame] = thread
            thread.start()

    def _compute(self, frame: str) -> None:
        robot = self.robot
        if not moving_joints(robot, frame):
            self._clouds[frame] = (np.zeros((0, 3)), np.zeros((0, 3), np.uint8))
            return
        space = workspace(robot, frame, samples=SAMPLES, dexterous=False)
        # random positions within the voxels: a regular grid would look like structure
        spread = np.random.default_rng(0).uniform(-0.5, 0.5, (int(space.reachable.sum()), 3))
        points = space.points(space.reachable) + space.resolution * spread * (np.array(space.counts.shape) > 3)
        density = space.probability[space.reachable]
        share = np.clip(density / max(float(np.quantile(density, 0.95)), 1e-12), 0.0, 1.0)[:, None]
        colours = (1 - share) * np.array([[178, 203, 230]]) + share * np.array([[46, 96, 168]])
        self._clouds[frame] = (points, colours.astype(np.uint8))
