"""Robot: a compiled description. It is immutable, so threads and processes may share it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, copied_on_access, read_only
from kinodyn.checks import shown
from kinodyn.description.base import Base, with_base
from kinodyn.description.types import Description
from kinodyn.description.validation import validate
from kinodyn.display import displayed
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.compile import JointInfo, Tree, body_table, compile_tree, frame_table, inertial_parameters
from kinodyn.model.joint_values import (
    Limits,
    checked_constant,
    joint_constants,
    joint_limits,
    neutral_configuration,
    sample,
    sampling_range,
)
from kinodyn.model.payload import add_payload

MAX_CONFIGURATIONS = 10**9
COPIED = ("gravity", "armature", "damping", "friction", "inertial_parameters")


@displayed
@copied_on_access(*COPIED)
class Robot(_core.CompiledRobot):
    """A robot, compiled from its description. Created by `kinodyn.load` and `kinodyn.from_dh`.

    Parameters
    ----------
    description
        The robot, hand-made or read from a file. It is checked here.
    base
        "fixed" or "floating"; by default that of the description.
    gravity, armature, damping
        Values (3,), (nv,) and (nv,) that override those of the description; one number applies to all joints.

    Raises
    ------
    DescriptionError
        If the description is not a valid robot.

    Attributes
    ----------
    name : str
    nq, nv : int
        Sizes of the configuration q and of the velocity v.
    base : "fixed" or "floating"
        With a floating base, q starts with [x y z qx qy qz qw] and v with the base's twist in its own frame.
    joints : tuple of JointInfo
        Every moving joint in order, the floating base and mimic joints included, with its slices of q and v.
    joint_names : tuple of str
        The joints with coordinates in q, in the order of q, without mimic joints and the floating base.
    frame_names : tuple of str
        Links, depth first, then other frames.
    mass : float
        Total mass of the moving links [kg].
    limits : Limits
        Limits on positions, velocities and efforts.
    gravity : (3,) array
        [m/s^2]
    armature, damping, friction : (nv,) arrays
        Armature and damping are part of the dynamics; dry friction is not, but simulators and controllers use it.
    inertial_parameters : (10 n,) array
        Mass, mass * com, inertia about the link's origin (xx xy yy xz yz zz) of each moving body, in link axes: the
        parameter vector of `dynamics.regressor`.
    parameter_links : tuple of str
        The link of each group of ten parameters.
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

    @check_types
    def __init__(
        self,
        description: Description,
        *,
        base: Base | None = None,
        gravity: ArrayLike | None = None,
        armature: ArrayLike | None = None,
        damping: ArrayLike | None = None,
    ) -> None:
        validate(description)
        description = with_base(description, base)
        tree = compile_tree(description)
        given = {"gravity": gravity, "armature": armature, "damping": damping}
        chosen = {name: checked_constant(name, value, tree.nv) for name, value in given.items() if value is not None}
        constants = {"gravity": np.array(description.gravity, dtype=float), **joint_constants(tree, description)}
        constants.update(chosen)
        self._compile(tree, constants)
        moving = [joint.name for joint in tree.joints if joint.mimic is None]
        self.__dict__.update(
            constants,
            name=description.name,
            nq=tree.nq,
            nv=tree.nv,
            base=description.base,
            joints=tuple(tree.joints),
            joint_names=tuple(moving[1:] if description.base == "floating" else moving),
            frame_names=tuple(tree.places),
            mass=math.fsum(body.mass for body in tree.bodies),
            limits=joint_limits(tree, description),
            inertial_parameters=inertial_parameters(tree.bodies),
            parameter_links=tuple(body.link for body in tree.bodies if not body.virtual),
            description=description,
            _chosen=chosen,
            _neutral=neutral_configuration(tree, description),
        )
        for name in COPIED:
            self.__dict__[name] = read_only(self.__dict__[name])

    def _compile(self, tree: Tree, constants: dict[str, Array]) -> None:
        """Create the core's representation of the robot."""
        super().__init__(
            nq=tree.nq,
            nv=tree.nv,
            bodies=body_table(tree.bodies),
            frames=frame_table(list(tree.places.values())),
            frame_names=list(tree.places),
            armature=constants["armature"],
            damping=constants["damping"],
            gravity=constants["gravity"],
            dof_joints=[joint.name for joint in tree.dof_joint],
            dof_links=[joint.child for joint in tree.dof_joint],
            parameter_bodies=[i for i, body in enumerate(tree.bodies) if not body.virtual],
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Robot is immutable: {name} cannot be set; robot.replace(...) returns a modified copy")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Robot is immutable: {name} cannot be deleted")

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, nq={self.nq}, nv={self.nv}, base={self.base!r}, mass={self.mass:.6g} kg)"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.description, self.__dict__["_chosen"])

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
        """Return a copy with different constants; those that are not given are kept.

        Parameters
        ----------
        gravity : (3,), optional
            [m/s^2]
        armature, damping : (nv,) or float, optional
            [kg m^2 or kg], [N m s/rad or N s/m]; 0 switches them off.

        Returns
        -------
        Robot

        Examples
        --------
        >>> import kinodyn as kd
        >>> frictionless = kd.load("puma560").replace(damping=0.0)
        """
        given = {"gravity": gravity, "armature": armature, "damping": damping}
        changes = {name: value for name, value in given.items() if value is not None}
        return _rebuild(self.description, {**self.__dict__["_chosen"], **changes})

    @check_types
    def with_payload(
        self, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> Robot:
        """Return a copy that carries a payload rigidly attached to a frame.

        Parameters
        ----------
        frame
            Frame or link that carries the payload.
        mass
            Mass [kg].
        com : (3,)
            CoM of the payload in the frame [m].
        inertia : (3, 3), optional
            Rotational inertia of the payload about its CoM, in the axes of the frame [kg m^2]; by default a point mass.

        Returns
        -------
        Robot

        Examples
        --------
        >>> import kinodyn as kd
        >>> robot = kd.load("panda")
        >>> loaded = robot.with_payload("panda_link8", 2.0, com=(0.0, 0.0, 0.1))
        >>> round(loaded.mass - robot.mass, 9)
        2.0
        """
        return _rebuild(add_payload(self.description, frame, mass, com, inertia), self.__dict__["_chosen"])

    def frame_index(self, frame: str) -> int:
        """Return the index of a frame in `frame_names`.

        Parameters
        ----------
        frame : str

        Returns
        -------
        int
        """
        return _core.frame_index(self, frame)

    def joint(self, name: str) -> JointInfo:
        """Return a moving joint.

        Parameters
        ----------
        name : str

        Returns
        -------
        JointInfo
        """
        for joint in self.joints:
            if isinstance(name, str) and joint.name == name:
                return joint
        raise unknown_name("joint", name, (joint.name for joint in self.joints))

    @property
    def configurations(self) -> tuple[str, ...]:
        """Names of the configurations that the description defines."""
        return tuple(self.description.configurations)

    def configuration(self, name: str) -> Array:
        """Return a named configuration of the description; joints that it does not mention are neutral.

        Parameters
        ----------
        name : str
            One of `configurations`.

        Returns
        -------
        (nq,)
        """
        if not isinstance(name, str) or name not in self.description.configurations:
            raise unknown_name("configuration", name, self.description.configurations)
        return self._fill(self.description.configurations[name])

    def neutral(self) -> Array:
        """Return the configuration (nq,) of zeros, or the joints' reference positions, and unit quaternions."""
        q: Array = self.__dict__["_neutral"].copy()
        return q

    def random(self, n: int | tuple[int, ...] | None = None, *, seed: int | np.random.Generator = 0) -> Array:
        """Sample configurations uniformly within limits.

        Unlimited revolute joints are sampled within [-pi, pi], prismatic ones and positions of free bodies within
        [-1, 1] m, quaternions uniformly.

        Parameters
        ----------
        n : int or tuple of int, optional
            Shape of the batch; by default one configuration.
        seed : int or numpy.random.Generator

        Returns
        -------
        (nq,), (n, nq) or (*n, nq)
        """
        return sample(self.joints, self.sampling_range(), _batch_shape(n), _generator(seed))

    def sampling_range(self) -> tuple[Array, Array]:
        """Return finite bounds (nq,) to sample from: the limits, narrowed as in `random` where they are too wide."""
        if "_range" not in self.__dict__:
            self.__dict__["_range"] = sampling_range(self.joints, self.limits)
        lower, upper = self.__dict__["_range"]
        return lower.copy(), upper.copy()

    def integrate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Integrate a velocity over unit time.

        Parameters
        ----------
        q : (..., nq)
        v : (..., nv)
            Velocity times time [rad or m].
        out : (..., nq), optional
            Where to write the result.

        Returns
        -------
        (..., nq)
        """
        return _core.integrate(self, q, v, out)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """Compute the shortest tangent vector v with integrate(q0, v) = q1.

        Parameters
        ----------
        q0, q1 : (..., nq)
        out : (..., nv), optional
            Where to write the result.

        Returns
        -------
        (..., nv)
        """
        return _core.difference(self, q0, q1, out)

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, s: ArrayLike, *, out: Array | None = None) -> Array:
        """Interpolate along the geodesic between two configurations.

        Parameters
        ----------
        q0, q1 : (..., nq)
        s : (...)
            0 gives q0, 1 gives q1.
        out : (..., nq), optional
            Where to write the result.

        Returns
        -------
        (..., nq)
        """
        return _core.interpolate(self, q0, q1, s, out)

    def _fill(self, positions: Mapping[str, tuple[float, ...]]) -> Array:
        q = self.neutral()
        for name, values in positions.items():
            joint = self.joint(name)
            if joint.mimic is None:
                q[joint.q] = values
        return q


def _rebuild(description: Description, chosen: Mapping[str, ArrayLike]) -> Robot:
    return Robot(
        description, gravity=chosen.get("gravity"), armature=chosen.get("armature"), damping=chosen.get("damping")
    )


def _batch_shape(n: int | tuple[int, ...] | None) -> tuple[int, ...]:
    parts = () if n is None else n if isinstance(n, tuple | list) else (n,)
    if not all(isinstance(part, int | np.integer) and not isinstance(part, bool) and part >= 0 for part in parts):
        raise InputError(f"n must be a nonnegative integer or a tuple of them, got {n!r}")
    if math.prod(int(part) for part in parts) > MAX_CONFIGURATIONS:
        raise InputError(f"n must be at most {MAX_CONFIGURATIONS} configurations, got {shown(n)}")
    return tuple(int(part) for part in parts)


def _generator(seed: int | np.random.Generator) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"seed must be a nonnegative integer or a NumPy Generator, got {seed!r}") from error


def require_robot(robot: object) -> None:
    """Raise unless `robot` is a Robot."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
