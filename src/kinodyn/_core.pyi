"""Types of the compiled core. Arguments are positional; the modules that call it name and document them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Wrenches = dict[str, ArrayLike] | None
Pair = tuple[Array, Array]
Triple = tuple[Array, Array, Array]

class CompiledRobot:
    def __init__(
        self,
        *,
        nq: int,
        nv: int,
        bodies: np.ndarray,
        frames: np.ndarray,
        frame_names: list[str],
        armature: Array,
        damping: Array,
        gravity: Array,
        dof_joints: list[str],
        dof_links: list[str],
        parameter_bodies: list[int],
    ) -> None: ...

Robot = CompiledRobot
Out = Array | None

def pose(robot: Robot, q: ArrayLike, frame: str | int, out: Out, /) -> Array: ...
def poses(robot: Robot, q: ArrayLike, frames: object, out: Out, /) -> Array: ...
def jacobian(robot: Robot, q: ArrayLike, frame: str | int, reference: str, out: Out, /) -> Array: ...
def jacobian_dot(robot: Robot, q: ArrayLike, v: ArrayLike, frame: str | int, reference: str, out: Out, /) -> Array: ...
def velocity(robot: Robot, q: ArrayLike, v: ArrayLike, frame: str | int, reference: str, out: Out, /) -> Array: ...
def acceleration(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: str | int,
    reference: str,
    classical: bool,
    out: Out,
    /,
) -> Array: ...
def com(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def com_jacobian(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def rnea(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: object, out: Out, /) -> Array: ...
def bias(robot: Robot, q: ArrayLike, v: ArrayLike, wrenches: object, out: Out, /) -> Array: ...
def aba(robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: object, out: Out, /) -> Array: ...
def gravity(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def crba(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def coriolis_matrix(robot: Robot, q: ArrayLike, v: ArrayLike, out: Out, /) -> Array: ...
def energy(robot: Robot, q: ArrayLike, v: ArrayLike, /) -> Pair: ...
def factorize(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def solve(robot: Robot, factor: ArrayLike, b: ArrayLike, out: Out, /) -> Array: ...
def momentum_matrix(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def momentum(robot: Robot, q: ArrayLike, v: ArrayLike, out: Out, /) -> Array: ...
def momentum_rate(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Out, /) -> Array: ...
def rnea_derivatives(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Triple | None, /) -> Triple: ...
def aba_derivatives(robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, out: Triple | None, /) -> Triple: ...
def regressor(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Out, /) -> Array: ...
def state(robot: Robot, q: ArrayLike, v: ArrayLike, out: tuple[Array, ...] | None, /) -> tuple[Array, ...]: ...
def state_jacobian(
    robot: Robot, columns: Array, poses: Array, frame: str | int, reference: str, out: Out, /
) -> Array: ...
def integrate(robot: Robot, q: ArrayLike, v: ArrayLike, out: Out, /) -> Array: ...
def difference(robot: Robot, q0: ArrayLike, q1: ArrayLike, out: Out, /) -> Array: ...
def interpolate(robot: Robot, q0: ArrayLike, q1: ArrayLike, s: ArrayLike, out: Out, /) -> Array: ...
def contact_impulses(
    robot: Robot,
    A: ArrayLike,
    c: ArrayLike,
    b: ArrayLike,
    mu: ArrayLike,
    guess: ArrayLike,
    tolerance: ArrayLike,
    points: int,
    sweeps: int,
    /,
) -> Triple: ...
def integrate_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    settings: ArrayLike,
    friction: ArrayLike,
    stops: ArrayLike,
    plan: bytes,
    steps: int,
    runge_kutta: bool,
    wrenches: object,
    out: Triple | None,
    /,
) -> Triple: ...
def constrained(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    gains: Array,
    constraints: list[Array],
    integers: bytes,
    rows: int,
    wrenches: object,
    /,
) -> tuple[Array, Array, Array, Array, Array]: ...
def impact(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    restitution: ArrayLike,
    constraints: list[Array],
    integers: bytes,
    rows: int,
    /,
) -> tuple[Array, Array, Array, Array, Array]: ...
def constraint_rows(
    robot: Robot, q: ArrayLike, v: ArrayLike, constraints: list[Array], integers: bytes, rows: int, /
) -> tuple[Array, Array]: ...
def constraint_error(robot: Robot, q: ArrayLike, constraints: list[Array], integers: bytes, rows: int, /) -> Array: ...
def project(
    robot: Robot, q: ArrayLike, settings: ArrayLike, constraints: list[Array], integers: bytes, /
) -> tuple[Array, Array, Array]: ...
def point_motion(robot: Robot, q: ArrayLike, v: ArrayLike, points: Array, frames: list[str], /) -> Triple: ...
def soft_forces(
    robot: Robot,
    motion: Triple,
    height: Array,
    normal: Array,
    anchors: Array,
    constants: Triple,
    owners: bytes,
    frames: int,
    shared_normal: bool,
    /,
) -> Triple: ...
def ik(
    robot: Robot,
    q0: ArrayLike,
    lower: Array,
    upper: Array,
    settings: Array,
    targets: dict[str, tuple[Array, Array]],
    method: int,
    /,
) -> Triple: ...
def ik_single(
    robot: Robot,
    starts: Array,
    lower: Array,
    upper: Array,
    settings: Array,
    targets: dict[str, tuple[Array, Array]],
    method: int,
    allowed: Array,
    low: Array,
    high: Array,
    /,
) -> Triple | tuple[Array, Array, NDArray[np.bool_], Array, Array]: ...
def ik_residual(
    robot: Robot,
    q: ArrayLike,
    lower: Array,
    upper: Array,
    allowed: Array,
    targets: dict[str, tuple[Array, Array]],
    /,
) -> tuple[Array, Array, Array, Array]: ...
def are_poses(poses: Array, /) -> bool: ...

task_kinds: tuple[str, ...]
id_qp_outputs: tuple[str, ...]

def task_rows(
    robot: Robot, q: ArrayLike, v: ArrayLike, entries: np.ndarray, numbers: Array, rows: int, output: int, /
) -> Array: ...
def whole_body(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    settings: Array,
    bounds: Array,
    entries: np.ndarray,
    numbers: Array,
    warm_start: Array,
    progress: Array | None,
    levels: int,
    /,
) -> tuple[Array, ...]: ...
def id_qp(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    settings: Array,
    bounds: Array,
    task_entries: np.ndarray,
    task_numbers: Array,
    contact_entries: np.ndarray,
    contact_numbers: Array,
    warm_start: Array,
    levels: int,
    /,
) -> tuple[Array, ...]: ...
def frame_control(
    robot: Robot,
    q: Array,
    v: Array,
    mass_matrix: Array,
    bias: Array,
    target: Array,
    rate: Array,
    acceleration: Array,
    wrench: Array,
    gains: Array,
    posture: Array,
    joints: Array,
    frame: int,
    mode: int,
    /,
) -> tuple[Array, Array, Array, Array, Array]: ...
def layouts() -> dict[str, dict[str, Any] | list[tuple[str, str, tuple[int | str, ...]]]]: ...

class ScaledQp:
    H: Array
    g: Array
    A: Array
    lower: Array
    upper: Array
    sense: NDArray[np.intc]
    x_unit: Array
    row_unit: Array
    cost_unit: float
    def __init__(self, H: Array, g: Array, A: Array, lower: Array, upper: Array, /) -> None: ...
    def is_convex(self) -> bool: ...
    def residuals(self, y: Array, multipliers: Array, with_floor: bool, /) -> tuple[float, float, float, float]: ...
    def unscale(self, y: Array, multipliers: Array, within: bool, /) -> tuple[Array, Array, Array]: ...

def frame_index(robot: Robot, frame: str | int, /) -> int: ...
def threads() -> int: ...
def set_threads(count: int, /) -> None: ...
def instruction_set() -> str: ...
def lanes() -> int: ...
def instruction_sets() -> list[str]: ...
def use_instruction_set(name: str, /) -> bool: ...
