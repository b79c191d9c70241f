"""Robot: a description made ready to compute with. It never changes, so threads and processes may share it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.description.types import Description
from kinodyn.description.validation import validate
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.compile import (
    COORDINATES,
    DOFS,
    JointInfo,
    Tree,
    body_table,
    compile_tree,
    frame_table,
    inertial_parameters,
    link_order,
)

ENDLESS = 4 * math.pi  # a turning joint with a wider range than this is as good as unlimited


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of the coordinates: position by q index, velocity and effort by v index; infinite where there is none."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


class Robot(_core.CompiledRobot):
    """A robot, compiled from its description. Made by `kinodyn.load` and `kinodyn.from_dh`.

    Attributes
    ----------
    name : str
    nq, nv : int
        Sizes of the configuration q and of the velocity v.
    base : "fixed" or "floating"
        With a floating base, q starts with [x y z qx qy qz qw] and v with the base's twist in its own frame.
    joints : tuple of JointInfo
        Every moving joint in order, the floating base and followers included, with its places in q and v.
    joint_names : tuple of str
        The joints that have coordinates of their own, in the order of q; the floating base is not among them.
    frame_names : tuple of str
        Links, depth first, then other frames.
    mass : float
        Of everything that moves [kg].
    limits : Limits
    gravity : (3,) array
        [m/s^2]
    armature, damping, friction : (nv,) arrays
        Armature and damping count in the dynamics; friction is kept for those who model it.
    inertial_parameters : (10 n,) array
        Mass, mass * com, inertia about the link's origin (xx xy yy xz yz zz) of each moving body, in link axes: what
        `dynamics.regressor` multiplies.
    parameter_links : tuple of str
        The link of each group of ten.
    description : Description
    """

    name: str
    nq: int
    nv: int
    base: Literal["fixed", "floating"]
    joints: tuple[JointInfo, ...]
    joint_names: tuple[str, ...]
    frame_names: tuple[str, ...]
    mass: float
    limits: Limits
    gravity: Array
    armature: Array
    damping: Array
    friction: Array
    inertial_parameters: Array
    parameter_links: tuple[str, ...]
    description: Description

    def __init__(self, description: Description, **constants: ArrayLike) -> None:
        """Compile a description, with `gravity`, `armature` or `damping` in place of those it gives."""
        if not isinstance(description, Description):
            raise InputError(f"description must be a Description, got {type(description).__name__}")
        validate(description)
        tree = compile_tree(description)
        links = link_order(description)
        frame_names = (*links, *(frame.name for frame in description.frames))
        armature, damping, friction = _constants(tree, description)
        chosen = {name: _constant(name, value, tree.nv) for name, value in constants.items()}
        own = {
            "gravity": np.array(description.gravity, dtype=float),
            "armature": armature,
            "damping": damping,
            **chosen,
        }
        super().__init__(
            nq=tree.nq,
            nv=tree.nv,
            bodies=body_table(tree.bodies),
            frames=frame_table([tree.places[name] for name in frame_names]),
            frame_names=list(frame_names),
            armature=own["armature"],
            damping=own["damping"],
            gravity=own["gravity"],
            dof_joints=[joint.name for joint in tree.dof_joint],
            dof_links=[joint.child for joint in tree.dof_joint],
            parameter_bodies=[i for i, body in enumerate(tree.bodies) if not body.virtual],
        )
        first = tree.joints[0] if tree.joints else None
        floating = first is not None and first.kind == "floating" and first.parent == links[0]
        fields = self.__dict__
        fields.update(own, friction=friction, description=description, name=description.name)
        fields.update(nq=tree.nq, nv=tree.nv, base="floating" if floating else "fixed")
        fields.update(joints=tuple(tree.joints), frame_names=frame_names, limits=_limits(tree, description))
        coordinates = [joint for joint in tree.joints if joint.mimic is None]
        fields["joint_names"] = tuple(joint.name for joint in coordinates[1 if floating else 0 :])
        fields["mass"] = math.fsum(body.mass for body in tree.bodies)
        fields["inertial_parameters"] = inertial_parameters(tree.bodies)
        fields["parameter_links"] = tuple(body.link for body in tree.bodies if not body.virtual)
        fields["_constants"] = chosen
        fields["_neutral"] = _neutral(tree, description)
        for value in fields.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Robot never changes: {name} cannot be set; robot.replace(...) makes another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Robot never changes: {name} cannot be deleted")

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, nq={self.nq}, nv={self.nv}, base={self.base!r}, mass={self.mass:.6g} kg)"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.description, self.__dict__["_constants"])

    def __copy__(self) -> Robot:
        return self

    def __deepcopy__(self, memo: object) -> Robot:
        return self

    def replace(
        self,
        *,
        gravity: ArrayLike | None = None,
        armature: ArrayLike | None = None,
        damping: ArrayLike | None = None,
    ) -> Robot:
        """Make a robot that differs in gravity (3,), armature or damping (nv,) or one number for all; 0 switches off.

        >>> import kinodyn as kd
        >>> frictionless = kd.load("puma560").replace(damping=0.0)
        """
        given = {"gravity": gravity, "armature": armature, "damping": damping}
        changes = {name: value for name, value in given.items() if value is not None}
        return Robot(self.description, **{**self.__dict__["_constants"], **changes})

    def frame_index(self, frame: str) -> int:
        """Find the place of a frame in `frame_names`."""
        return _core.frame_index(self, frame)

    def joint(self, name: str) -> JointInfo:
        """Find a moving joint by name."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise unknown_name("joint", name, (joint.name for joint in self.joints))

    @property
    def configurations(self) -> tuple[str, ...]:
        """Names of the configurations that the description gives."""
        return tuple(self.description.configurations)

    def configuration(self, name: str) -> Array:
        """Look up a named configuration; joints that it does not mention are neutral."""
        if not isinstance(name, str) or name not in self.description.configurations:
            raise unknown_name("configuration", name, self.description.configurations)
        return self._fill(self.description.configurations[name])

    def neutral(self) -> Array:
        """Make the configuration of zeros and unit quaternions."""
        q: Array = self.__dict__["_neutral"].copy()
        return q

    def random(self, n: int | tuple[int, ...] | None = None, *, seed: int | np.random.Generator = 0) -> Array:
        """Draw configurations uniformly within limits: (n, nq), or (nq,) if n is not given.

        Unlimited joints turn within [-pi, pi] or slide within [-1, 1] m, free bodies stand within 1 m of the origin
        on each axis, rotations are uniform.
        """
        shape, generator = _batch_shape(n), _generator(seed)
        lower, upper = self.sampling_range()
        q = generator.uniform(lower, upper, size=(*shape, self.nq))
        for joint in self.joints:
            if joint.kind in ("ball", "floating") and joint.mimic is None:
                part = slice(joint.q.stop - 4, joint.q.stop)
                u = generator.normal(size=(*shape, 4))
                q[..., part] = u / np.linalg.norm(u, axis=-1, keepdims=True)
        return q

    def sampling_range(self) -> tuple[Array, Array]:
        """Give finite bounds (nq,) to draw from: the limits, narrowed as `random` says where they leave too much."""
        if "_range" not in self.__dict__:
            self.__dict__["_range"] = _sampling_range(self.joints, self.limits)
        lower, upper = self.__dict__["_range"]
        return lower.copy(), upper.copy()

    def integrate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Move from q along the tangent v (velocity times time): (..., nq)."""
        return _core.integrate(self, q, v, out)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """Find the shortest tangent v (..., nv) with integrate(q0, v) = q1."""
        return _core.difference(self, q0, q1, out)

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, s: ArrayLike, *, out: Array | None = None) -> Array:
        """Go the share s of the way from q0 to q1; s broadcasts with the batch axes of q0 and q1."""
        return _core.interpolate(self, q0, q1, s, out)

    def _fill(self, positions: Mapping[str, tuple[float, ...]]) -> Array:
        q = self.neutral()
        for name, values in positions.items():
            joint = self.joint(name)
            if joint.mimic is None:
                q[joint.q] = values
        return q


def _rebuild(description: Description, constants: dict[str, Array]) -> Robot:
    return Robot(description, **constants)


def _constant(name: str, value: ArrayLike, nv: int) -> Array:
    if name not in ("gravity", "armature", "damping"):
        raise InputError(f"{name} is no constant of a robot; gravity, armature and damping can be chosen")
    size = 3 if name == "gravity" else nv
    try:
        result = np.array(np.broadcast_to(np.asarray(value, dtype=float), (size,)))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a number or an array of shape ({size},)") from error
    if not np.isfinite(result).all() or (name != "gravity" and (result < 0).any()):
        raise InputError(f"{name} must be finite" + ("" if name == "gravity" else " and not negative"))
    return result


def _batch_shape(n: int | tuple[int, ...] | None) -> tuple[int, ...]:
    parts = () if n is None else n if isinstance(n, tuple | list) else (n,)
    if not all(isinstance(part, int | np.integer) and not isinstance(part, bool) and part >= 0 for part in parts):
        raise InputError(f"n must be a whole number of at least 0 or a tuple of them, got {n!r}")
    return tuple(int(part) for part in parts)


def _generator(seed: int | np.random.Generator) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"seed must be a whole number of at least 0 or a NumPy Generator, got {seed!r}") from error


def _constants(tree: Tree, description: Description) -> tuple[Array, Array, Array]:
    """Armature, damping and friction by v index; a follower's add to those of the joint it follows."""
    armature, damping, friction = np.zeros((3, tree.nv))
    joints = {joint.name: joint for joint in description.joints}
    for info in tree.joints:
        joint, rate = joints[info.name], 1.0
        own = joint
        while joint.mimic is not None:
            rate *= joint.mimic.multiplier
            joint = joints[joint.mimic.joint]
        v = next(other.v for other in tree.joints if other.name == joint.name) if own is not joint else info.v
        armature[v] += rate**2 * own.armature
        damping[v] += rate**2 * own.damping
        friction[v] += abs(rate) * own.friction
    return armature, damping, friction


def _limits(tree: Tree, description: Description) -> Limits:
    lower, upper = np.full(tree.nq, -math.inf), np.full(tree.nq, math.inf)
    velocity, effort = np.full(tree.nv, math.inf), np.full(tree.nv, math.inf)
    joints = {joint.name: joint for joint in description.joints}
    for info in tree.joints:
        joint = joints[info.name]
        if COORDINATES[info.kind] == 1 and info.kind != "continuous":
            lower[info.q], upper[info.q] = joint.lower, joint.upper
        velocity[info.v], effort[info.v] = joint.velocity, joint.effort
    for array in (lower, upper, velocity, effort):
        array.flags.writeable = False
    return Limits(lower, upper, velocity, effort)


def _neutral(tree: Tree, description: Description) -> Array:
    q = np.zeros(tree.nq)
    references = {joint.name: joint.reference for joint in description.joints}
    for info in tree.joints:
        if info.mimic is not None:
            continue
        if info.kind in ("ball", "floating"):
            q[info.q.stop - 1] = 1.0
        elif DOFS[info.kind] == 1:
            q[info.q] = references[info.name]
    return q


def _sampling_range(joints: tuple[JointInfo, ...], limits: Limits) -> tuple[Array, Array]:
    """Finite ranges to draw from: the limits or, where they leave too much, a turn or 2 m within them, nearest to 0."""
    lower, upper = limits.lower.copy(), limits.upper.copy()
    for joint in joints:
        turning = np.full(joint.q.stop - joint.q.start, joint.kind in ("revolute", "continuous"))
        if joint.kind == "planar":
            turning[2] = True
        half = np.where(turning, math.pi, 1.0)
        low, high = lower[joint.q], upper[joint.q]
        wide = ~np.isfinite(high - low) | (turning & (high - low > ENDLESS))
        middle = np.clip(0.0, low + half, high - half)
        lower[joint.q] = np.where(wide, np.maximum(middle - half, low), low)
        upper[joint.q] = np.where(wide, np.minimum(middle + half, high), high)
    return lower, upper
