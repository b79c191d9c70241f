"""Find the workspace of a frame by sampling the joints that move it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, one_of, positive
from kinodyn.errors import InputError
from kinodyn.kinematics.workspaces.grid import Workspace
from kinodyn.kinematics.workspaces.reach import far_rows, refine_reach
from kinodyn.kinematics.workspaces.sobol import BITS, sobol
from kinodyn.kinematics.workspaces.voxels import (
    MAX_DIRECTIONS,
    VoxelCounts,
    dense_grids,
    fibonacci_sphere,
    voxel_keys,
)
from kinodyn.model.chain import (
    ROTARY,
    first_joint_position,
    frame_name,
    moving_joints,
    reach_bounds,
    single_configuration,
)
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot, _generator

CHUNK = 2**15  # samples per pass; a power of two keeps Sobol's sequence balanced
MAX_SAMPLES = 2**BITS


@check_types
def workspace(
    robot: Robot,
    frame: str | int,
    *,
    samples: int = 2**18,
    resolution: float | None = None,
    joints: Sequence[str] | None = None,
    q0: ArrayLike | None = None,
    dexterous: bool = True,
    approach: str = "z",
    directions: int = 50,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Workspace:
    """Map the reachable positions of a frame by sampling configurations evenly within the joint limits.

    Parameters
    ----------
    robot : Robot
    frame : str or int
    samples
        Number of configurations, drawn from Sobol's sequence.
    resolution
        Edge of a voxel [m]; by default a sixteenth of the largest reach that the chain's lengths allow.
    joints
        Names of the joints that move; all between base and frame if not given.
    q0
        Configuration `(nq,)` of the other joints and of a floating base; neutral if not given.
    dexterous
        Whether to record the directions of the frame's approach axis in each voxel.
    approach
        Approach axis of the frame: "x", "y" or "z".
    directions
        Number of directions, evenly distributed over the sphere, that dexterity distinguishes.
    seed
        Seed of the random shift of the sequence.
    progress
        Called with (done, samples) after each chunk; if it returns False, sampling stops there.

    Returns
    -------
    workspace : Workspace
        Relative to the base, which does not move.

    Notes
    -----
    Dexterity is the reachability index of F. Zacharias, C. Borst and G. Hirzinger, "Capturing robot workspace
    structure", 2007.

    Examples
    --------
    >>> import kinodyn as kd
    >>> arm = kd.from_dh([kd.DH(a=1.0), kd.DH(a=0.5)])
    >>> ring = kd.kinematics.workspace(arm, "link2", samples=2**15, resolution=0.05)
    >>> round(ring.max_reach, 9), bool(ring.voids().any()), ring.contains([[1.2, 0, 0], [0.1, 0, 0]]).tolist()
    (1.5, True, [True, False])
    """
    _check_options(samples, progress)
    sampler = WorkspaceSampler.create(
        robot,
        frame,
        resolution=resolution,
        joints=joints,
        q0=q0,
        dexterous=dexterous,
        approach=approach,
        directions=directions,
        seed=seed,
    )
    found, done = Sampled(), 0
    for start in range(0, samples, CHUNK):
        done = min(start + CHUNK, samples)
        sampler.sample(found, start, done - start)
        if progress is not None and progress(done, samples) is False:
            break
    return sampler.workspace(found, done)


@dataclass
class Sampled:
    """What samples have found.

    Attributes
    ----------
    counts : VoxelCounts
    farthest : (n,) array of int
        Indices of the samples in which the frame is farthest from the centre.
    """

    counts: VoxelCounts = field(default_factory=VoxelCounts)
    farthest: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class WorkspaceSampler:
    """Samples of a workspace by their index in Sobol's sequence: a range gives the same samples as in a whole run.

    Attributes
    ----------
    robot, frame, start
        Robot, name of the frame, and configuration (nq,) of the joints that do not move.
    moving, lower, upper
        Joints that move, and the range (nq,) of each.
    centre, edge
        Point (3,) from which reach is measured [m], and edge of a voxel [m].
    dexterous, axis, directions, seed
        As for `workspace`; `axis` is the index of the approach axis.
    """

    robot: Robot
    frame: str
    start: Array
    moving: tuple[JointInfo, ...]
    lower: Array
    upper: Array
    centre: Array
    edge: float
    dexterous: bool
    axis: int
    directions: int
    seed: int

    @classmethod
    def create(
        cls,
        robot: Robot,
        frame: str | int,
        *,
        resolution: float | None = None,
        joints: Sequence[str] | None = None,
        q0: ArrayLike | None = None,
        dexterous: bool = True,
        approach: str = "z",
        directions: int = 50,
        seed: int = 0,
    ) -> WorkspaceSampler:
        """Check the arguments of `workspace`."""
        start = single_configuration(robot, q0)
        one_of("approach", approach, ("x", "y", "z"))
        integer("directions", directions, 1, MAX_DIRECTIONS)
        name, moving = frame_name(robot, frame), moving_joints(robot, frame, joints)
        lower, upper = _ranges(robot, moving)
        _generator(seed)
        return cls(
            robot,
            name,
            start,
            moving,
            lower,
            upper,
            first_joint_position(robot, name, start, joints),
            _edge(resolution, reach_bounds(robot, name, start, joints)[2]),
            bool(dexterous),
            "xyz".index(approach),
            directions,
            seed,
        )

    def configurations(self, samples: NDArray[np.int64] | tuple[int, int]) -> Array:
        """Compute configurations (n, nq) from the indices of samples (n,), or a range of them: first and count."""
        dimensions = sum(3 if joint.kind == "ball" else 1 for joint in self.moving)
        numbers = np.arange(samples[0], sum(samples)) if isinstance(samples, tuple) else samples
        unit = (sobol(dimensions, numbers) + _generator(self.seed).uniform(size=dimensions)) % 1.0
        q, column = np.tile(self.start, (len(unit), 1)), 0
        for joint in self.moving:
            if joint.kind == "ball":
                q[:, joint.q] = _quaternions(unit[:, column : column + 3])
                column += 3
            else:
                i = joint.q.start
                q[:, i] = self.lower[i] + unit[:, column] * (self.upper[i] - self.lower[i])
                column += 1
        return q

    def sample(self, found: Sampled, first: int, count: int) -> None:
        """Add a range of samples to `found`."""
        T = _core.pose(self.robot, self.configurations((first, count)), self.frame, None)
        offset = T[:, :3, 3] - self.centre
        keys = voxel_keys(offset, self.edge)
        views = np.zeros(0, dtype=np.int64)
        if self.dexterous:
            # not by BLAS, whose threads would compete with the other workers
            cosines = np.einsum("ni,mi->nm", T[:, :3, self.axis], fibonacci_sphere(self.directions))
            nearest = np.argmax(cosines, axis=1)
            views = keys * self.directions + nearest
        found.counts.add(keys, None, views)
        self.keep_farthest(found, first + far_rows(offset))

    def keep_farthest(self, found: Sampled, samples: NDArray[np.int64]) -> None:
        """Keep the farthest of the samples in `found` and further ones, given by their indices (n,)."""
        candidates = np.concatenate([found.farthest, samples])
        T = _core.pose(self.robot, self.configurations(candidates), self.frame, None)
        found.farthest = candidates[far_rows(T[:, :3, 3] - self.centre)]

    def workspace(self, found: Sampled, samples: int) -> Workspace:
        """Create the workspace from what `samples` samples have found."""
        corner, counts, seen = dense_grids(found.counts, self.directions, self.dexterous)
        starts, ranges = self.configurations(found.farthest), (self.lower, self.upper)
        reach, q_reach = refine_reach(self.robot, self.frame, starts, self.moving, ranges, self.centre)
        origin = self.centre + self.edge * corner
        dexterity = seen / self.directions
        return Workspace(
            self.robot.name, self.frame, origin, self.edge, samples, counts, dexterity, self.centre, reach, q_reach
        )


def _check_options(samples: int, progress: object) -> None:
    integer("samples", samples, 1, MAX_SAMPLES)
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function of (done, samples), got {progress!r}")


def _edge(resolution: float | None, max_length: float) -> float:
    if resolution is None:
        if max_length > 0.0:
            return max_length / 16
        raise InputError("the frame does not move with its joints; choose a frame that is not on their axes")
    return positive("resolution", resolution)


def _ranges(robot: Robot, moving: tuple[JointInfo, ...]) -> tuple[Array, Array]:
    """Find the range of each scalar joint: its limits, but at most one full turn, after which positions repeat."""
    lower, upper = robot.limits.lower.copy(), robot.limits.upper.copy()
    for joint in moving:
        low, high = lower[joint.q], upper[joint.q]
        if joint.kind in ROTARY:
            low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * np.pi, -np.pi))
            lower[joint.q], upper[joint.q] = low, np.minimum(high, low + 2 * np.pi)
        elif joint.kind != "ball" and not (np.isfinite(low) & np.isfinite(high)).all():
            raise InputError(
                f"joint {joint.name!r} slides without limits, so the workspace is unbounded;"
                " give it limits, or list the other joints in joints="
            )
    return lower, upper


def _quaternions(unit: Array) -> Array:
    """Map points (n, 3) of the unit cube to uniform rotations: K. Shoemake, "Uniform random rotations", 1992."""
    a, b = np.sqrt(1.0 - unit[:, 0]), np.sqrt(unit[:, 0])
    first, second = 2 * np.pi * unit[:, 1], 2 * np.pi * unit[:, 2]
    return np.stack([a * np.sin(first), a * np.cos(first), b * np.sin(second), b * np.cos(second)], axis=1)
