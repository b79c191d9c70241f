"""The workspace of a frame as a cloud of points, found beside the page's other work."""

from __future__ import annotations

import threading

import numpy as np
import viser

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.kinematics.workspaces import workspace
from kinodyn.model.chain import movers
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose
from kinodyn.viewer.moment import wxyz_of

SAMPLES = 2**15


class Cloud:
    """The cloud of one robot: computed once for each frame, in a thread of its own, then moved with the base."""

    def __init__(self, scene: viser.SceneApi, robot: Robot, name: str, size: float) -> None:
        self.scene, self.robot, self.name, self.size = scene, robot, name, size
        self._found: dict[str, tuple[Array, Array]] = {}
        self._working: dict[str, threading.Thread] = {}
        self._node: viser.PointCloudHandle | None = None
        self._drawn = ""

    def draw(self, q: Array, frame: str) -> bool:
        """Draw the cloud of a frame, as soon as it is found; tell whether it is there."""
        if frame not in self._found:
            self._start(frame)
            return self.hide()
        if self._drawn != frame:
            points, colours = self._found[frame]
            self._node = self.scene.add_point_cloud(
                self.name, points, colours, point_size=0.005 * self.size, point_shape="circle", precision="float32"
            )
            self._drawn = frame
        assert self._node is not None
        if self.robot.base == "floating":  # the cloud was found with the base at its neutral place
            base = self.robot.joints[0].child
            T = kinematics.pose(self.robot, q, base) @ inverse_pose(
                kinematics.pose(self.robot, self.robot.neutral(), base)
            )
            self._node.wxyz, self._node.position = wxyz_of(T[:3, :3]), T[:3, 3]
        self._node.visible = True
        return True

    def hide(self) -> bool:
        """Hide it."""
        if self._node is not None:
            self._node.visible = False
        return False

    def wait(self) -> None:
        """Wait until what was asked for is found."""
        for thread in list(self._working.values()):
            thread.join()

    def _start(self, frame: str) -> None:
        if frame not in self._working:
            thread = threading.Thread(target=self._find, args=(frame,), daemon=True, name=f"workspace of {frame}")
            self._working[frame] = thread
            thread.start()

    def _find(self, frame: str) -> None:
        robot = self.robot
        if not movers(robot, frame):
            self._found[frame] = (np.zeros((0, 3)), np.zeros((0, 3), np.uint8))
            return
        space = workspace(robot, frame, samples=SAMPLES, dexterous=False)
        # anywhere in its voxel: points in rows would look like something they are not
        spread = np.random.default_rng(0).uniform(-0.5, 0.5, (int(space.reachable.sum()), 3))
        points = space.points(space.reachable) + space.resolution * spread * (np.array(space.counts.shape) > 3)
        density = space.probability[space.reachable]
        share = np.clip(density / max(float(np.quantile(density, 0.95)), 1e-12), 0.0, 1.0)[:, None]
        colours = (1 - share) * np.array([[178, 203, 230]]) + share * np.array([[46, 96, 168]])
        self._found[frame] = (points, colours.astype(np.uint8))
