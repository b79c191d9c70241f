"""Types of the compiled core. Arguments are positional; the modules that call it name and document them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

T = TypeVar("T")
Array = NDArray[np.float64]
Array32 = NDArray[np.float32]
Wrenches = dict[str, ArrayLike] | None
Triple = tuple[Array, Array, Array]
Records = np.ndarray  # with the dtype of a layout

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
Out32 = Array32 | None

def pose(robot: Robot, q: ArrayLike, frame: str | int, out: Out, /) -> Array: ...
def pose_float32(robot: Robot, q: ArrayLike, frame: str | int, out: Out32, /) -> Array32: ...
def poses(robot: Robot, q: ArrayLike, frames: object, out: Out, /) -> Array: ...
def poses_float32(robot: Robot, q: ArrayLike, frames: object, out: Out32, /) -> Array32: ...
def jacobian(robot: Robot, q: ArrayLike, frame: str | int, reference: str, out: Out, /) -> Array: ...
def jacobian_float32(robot: Robot, q: ArrayLike, frame: str | int, reference: str, out: Out32, /) -> Array32: ...
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
def com_float32(robot: Robot, q: ArrayLike, out: Out32, /) -> Array32: ...
def com_jacobian(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def rnea(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: object, out: Out, /) -> Array: ...
def rnea_float32(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: object, out: Out32, /
) -> Array32: ...
def bias(robot: Robot, q: ArrayLike, v: ArrayLike, wrenches: object, out: Out, /) -> Array: ...
def aba(robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: object, out: Out, /) -> Array: ...
def aba_float32(
    robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: object, out: Out32, /
) -> Array32: ...
def gravity(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def crba(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def crba_float32(robot: Robot, q: ArrayLike, out: Out32, /) -> Array32: ...
def coriolis_matrix(robot: Robot, q: ArrayLike, v: ArrayLike, out: Out, /) -> Array: ...

class Energy(NamedTuple):
    kinetic: Array
    potential: Array

def energy(robot: Robot, q: ArrayLike, v: ArrayLike, /) -> Energy: ...
def factorize(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def solve(robot: Robot, factor: ArrayLike, b: ArrayLike, out: Out, /) -> Array: ...
def momentum_matrix(robot: Robot, q: ArrayLike, out: Out, /) -> Array: ...
def momentum(robot: Robot, q: ArrayLike, v: ArrayLike, out: Out, /) -> Array: ...
def momentum_rate(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Out, /) -> Array: ...
def rnea_derivatives(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Triple | None, /) -> Triple: ...
def aba_derivatives(robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, out: Triple | None, /) -> Triple: ...
def regressor(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Out, /) -> Array: ...
def hessian(robot: Robot, q: ArrayLike, frame: str | int, reference: str, out: Out, /) -> Array: ...
def poses_vjp(robot: Robot, q: ArrayLike, gradient: ArrayLike, frames: object, out: Out, /) -> Array: ...
def com_vjp(robot: Robot, q: ArrayLike, gradient: ArrayLike, out: Out, /) -> Array: ...

class VelocityVjp(NamedTuple):
    q: Array
    v: Array

def velocity_vjp(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    gradient: ArrayLike,
    frame: str | int,
    reference: str,
    out: VelocityVjp | None,
    /,
) -> VelocityVjp: ...

class IntegrateVjp(NamedTuple):
    q: Array
    v: Array

def integrate_vjp(
    robot: Robot, q: ArrayLike, v: ArrayLike, gradient: ArrayLike, out: IntegrateVjp | None, /
) -> IntegrateVjp: ...

class DifferenceVjp(NamedTuple):
    q0: Array
    q1: Array

def difference_vjp(
    robot: Robot, q0: ArrayLike, q1: ArrayLike, gradient: ArrayLike, out: DifferenceVjp | None, /
) -> DifferenceVjp: ...

class RneaVjp(NamedTuple):
    q: Array
    v: Array
    a: Array
    wrenches: Array

def rnea_vjp(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    gradient: ArrayLike,
    wrenches: object,
    out: RneaVjp | None,
    /,
) -> RneaVjp: ...

class ConstrainedVjp(NamedTuple):
    q: Array
    v: Array
    wrenches: Array

def constrained_vjp(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    x: ArrayLike,
    forces: ArrayLike,
    g: ArrayLike,
    constraints: Sequence[Records],
    poses: Sequence[Array],
    wrenches: object,
    /,
) -> ConstrainedVjp: ...

class AbaVjp(NamedTuple):
    q: Array
    v: Array
    tau: Array
    wrenches: Array

def aba_vjp(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    gradient: ArrayLike,
    wrenches: object,
    out: AbaVjp | None,
    /,
) -> AbaVjp: ...

class State(NamedTuple):
    poses: Array
    columns: Array
    mass_matrix: Array
    bias: Array
    com: Array
    com_jacobian: Array
    com_velocity: Array
    momentum_matrix: Array
    momentum: Array
    momentum_bias: Array

def state(robot: Robot, q: ArrayLike, v: ArrayLike, out: State | None, /) -> State: ...
def state_jacobian(
    robot: Robot, columns: Array, poses: Array, frame: str | int, reference: str, out: Out, /
) -> Array: ...
def integrate(robot: Robot, q: ArrayLike, v: ArrayLike, out: Out, /) -> Array: ...
def difference(robot: Robot, q0: ArrayLike, q1: ArrayLike, out: Out, /) -> Array: ...
def interpolate(robot: Robot, q0: ArrayLike, q1: ArrayLike, s: ArrayLike, out: Out, /) -> Array: ...

class HardContacts(NamedTuple):
    impulse: Array
    wrench: Array
    change: Array

def hard_contacts(
    robot: Robot,
    q: Array,
    v: Array,
    mass_matrix: Array,
    inertia: Array,
    force: Array,
    owner: Array,
    position: Array,
    normal: Array,
    height: Array,
    friction: Array,
    guess: Array,
    frames: list[str],
    settings: Records,
    /,
) -> HardContacts: ...

class IntegratedDynamics(NamedTuple):
    q: Array
    v: Array
    steps: Array  # completed
    diverged_dof: Array  # v index, -1 if none

def integrate_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    time_step: Array,
    friction_joints: Records,
    friction: Array,
    stop_joints: Records,
    stops: Array,
    steps: int,
    runge_kutta: bool,
    wrenches: object,
    /,
) -> IntegratedDynamics: ...

class ConstrainedDynamics(NamedTuple):
    a: Array
    force: Array
    rank: Array
    residual_share: Array
    residual: Array

class Impact(NamedTuple):
    v: Array
    impulse: Array
    rank: Array
    residual_share: Array
    residual: Array

class ConstraintJacobian(NamedTuple):
    J: Array
    acceleration: Array  # J a that keeps the constraints: minus the drift dJ/dt v

class Projection(NamedTuple):
    q: Array
    error: Array
    iterations: Array

def constrained(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    gains: Array,
    constraints: list[Records],
    poses: list[Array],
    wrenches: object,
    /,
) -> ConstrainedDynamics: ...
def impact(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    restitution: ArrayLike,
    constraints: list[Records],
    poses: list[Array],
    /,
) -> Impact: ...
def constraint_jacobian(
    robot: Robot, q: ArrayLike, v: ArrayLike, constraints: list[Records], poses: list[Array], /
) -> ConstraintJacobian: ...
def constraint_error(robot: Robot, q: ArrayLike, constraints: list[Records], poses: list[Array], /) -> Array: ...
def project(
    robot: Robot,
    q: ArrayLike,
    tolerance: ArrayLike,
    max_iterations: ArrayLike,
    fixed: Array,
    constraints: list[Records],
    poses: list[Array],
    /,
) -> Projection: ...

class PointMotion(NamedTuple):
    position: Array
    velocity: Array
    arm: Array

class SoftForces(NamedTuple):
    force: Array
    anchor: Array
    wrench: Array

def point_motion(robot: Robot, q: ArrayLike, v: ArrayLike, points: Array, frames: list[str], /) -> PointMotion: ...
def soft_forces(
    robot: Robot,
    position: Array,
    velocity: Array,
    arm: Array,
    height: Array,
    normal: Array,
    anchor: Array,
    stiffness: Array,
    damping: Array,
    friction: Array,
    points: Records,
    n_frames: int,
    shared_normal: bool,
    /,
) -> SoftForces: ...

Targets = dict[str, tuple[Array, Array]]  # frame -> pose (..., 16) and weights (..., 6)

class Ik(NamedTuple):
    q: Array
    iterations: Array
    ending: Array  # codes "ik_ending"

class Continuation(NamedTuple):
    z: Array  # pairs (real, imaginary) of each joint
    left: Array
    error: Array

class ClosedForm(NamedTuple):
    q: Array
    residual: Array
    outside: Array
    regular: Array

class IkSolution(NamedTuple):
    q: Array
    error: Array
    at_limit: NDArray[np.bool_]
    iterations: Array
    poses: Array

class IkResidual(NamedTuple):
    error: Array
    success: Array
    cost: Array
    poses: Array

def ik(
    robot: Robot,
    q0: ArrayLike,
    lower: Array,
    upper: Array,
    settings: Records,
    targets: Targets,
    dofs: NDArray[np.int32],
    /,
) -> Ik: ...
def continuation(
    robot: Robot, links: Array, start: Array, first: Array, last: Array, settings: Records, /
) -> Continuation: ...
def closed_form(
    robot: Robot,
    T: Array,
    frame: str | int,
    plan: Array,
    indices: Array,
    lower: Array,
    upper: Array,
    near: Array,
    rest: Array,
    /,
) -> ClosedForm: ...
def ik_single(
    robot: Robot,
    starts: Array,
    lower: Array,
    upper: Array,
    settings: Records,
    targets: Targets,
    dofs: NDArray[np.int32],
    tolerances: Records,
    low: Array,
    high: Array,
    /,
) -> tuple[IkSolution | None, Ik | None]: ...
def ik_residual(
    robot: Robot, q: ArrayLike, lower: Array, upper: Array, tolerances: Records, targets: Targets, /
) -> IkResidual: ...
def are_poses(poses: Array, /) -> bool: ...
def task_rows(
    robot: Robot, q: ArrayLike, v: ArrayLike, entries: np.ndarray, numbers: Array, rows: int, output: int, /
) -> Array: ...

class WholeBody(NamedTuple):
    q: Array
    v: Array
    errors: Array
    active: Array
    info: Array  # layout "whole_body_info"
    progress: Array  # only where progress was given

def warm_start_size(robot: Robot, entries: np.ndarray, levels: int, /) -> int: ...
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
) -> WholeBody: ...

class IdQp(NamedTuple):
    acceleration: Array
    forces: Array
    torque: Array
    active: Array
    task_residuals: Array
    excess: Array
    contact_residuals: Array
    joint_limits: Array  # codes "joint_limit"
    info: Array  # layout "id_qp_info"

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
) -> IdQp: ...

class FrameControl(NamedTuple):
    desired: Array
    tau: Array
    error: Array
    error_rate: Array
    damped: Array
    lyapunov: Array
    lyapunov_rate: Array

class CartesianImpedance(NamedTuple):
    tau: Array
    error: Array
    error_rate: Array
    wrench: Array
    damped: Array
    energy: Array
    loss: Array
    Jbar: Array

def cartesian_impedance(
    robot: Robot,
    q: Array,
    v: Array,
    mass_matrix: Array,
    target: Array,
    rate: Array,
    stiffness: Array,
    damping: Array,
    weights: Array,
    posture: Array,
    posture_stiffness: Array,
    frame: int,
    settings: Records,
    /,
) -> CartesianImpedance: ...
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
    joint_gains: Array,
    frame: int,
    settings: Records,
    /,
) -> FrameControl: ...
def layouts() -> dict[str, np.dtype[np.void] | list[tuple[str, str, tuple[int | str, ...]]]]: ...
def codes() -> dict[str, dict[str, int]]: ...
def constants() -> dict[str, float]: ...
def stack_bounds(
    x_lower: Array | None, x_upper: Array | None, lower: Array | None, upper: Array | None, n: int, m: int
) -> tuple[Array, Array]: ...
def scale_plain(
    H: object, g: object, A: object, x_lower: object, x_upper: object, lower: object, upper: object, /
) -> ScaledQp | None: ...

class ScaledQp:
    H: Array
    g: Array
    A: Array
    lower: Array
    upper: Array
    sense: NDArray[np.intc]
    x_unit: Array
    row_unit: Array
    given_lower: Array
    given_upper: Array
    cost_unit: float
    has_cost: bool
    def __init__(self, H: Array, g: Array, A: Array, lower: Array, upper: Array, by_bounds: bool = False) -> None: ...
    def arrays(self) -> tuple[Array, Array, Array, Array, Array, NDArray[np.intc]]: ...
    def is_convex(self) -> bool: ...
    def residuals(self, y: Array, multipliers: Array, with_floor: bool, /) -> tuple[float, float, float, float]: ...
    def unscale(self, y: Array, multipliers: Array, within: bool, /) -> tuple[Array, Array, Array]: ...
    def verified(
        self, y: Array, multipliers: Array, tolerance: float, /
    ) -> tuple[Array, Array, Array, float, float, float] | None: ...

def frame_index(robot: Robot, frame: str | int, /) -> int: ...

class Cancellation:
    def cancel(self) -> None: ...
    def call(self, function: Callable[..., T], /, *arguments: Any) -> T: ...

def threads() -> int: ...
def set_threads(count: int, /) -> None: ...
def instruction_set() -> str: ...
def lanes() -> int: ...
def instruction_sets() -> list[str]: ...
def kernels() -> dict[str, list[str]]: ...
def use_instruction_set(name: str, /) -> bool: ...

class TriangleBvh:
    def __init__(self, vertices: Array, faces: NDArray[np.int64], /) -> None: ...
    def overshoot(self, spheres: Array, /) -> tuple[float, float, float]: ...
    def signed_distances(self, points: Array, /) -> Array: ...
    def lowest_distance(self, points: Array, /) -> tuple[float, int]: ...
    def search_cost(self) -> float: ...

def first_equal_rows(rows: NDArray[np.int64], /) -> NDArray[np.int64]: ...
def fit_spheres(vertices: Array, faces: NDArray[np.int64], bends: Array, resolution: float, /) -> Array: ...
def fit_bound(vertices: Array, faces: NDArray[np.int64], resolution: float, /) -> float: ...
def voxel_hull(vertices: Array, faces: NDArray[np.int64], cell: float, /) -> tuple[Array, NDArray[np.int64], float]: ...
def footholds(
    heights: Array, grid: Records, inner: Array, outer: Array, centre: Array, rules: Records, poses: Array, /
) -> Records: ...

class FootstepPath(NamedTuple):
    steps: Records  # layout "footstep"
    cost: float
    weight: float
    states: int
    expanded: int
    exhausted: bool

def footstep_search(
    heights: Array,
    grid: np.ndarray,
    body: Array,
    swing: Array,
    coarse_grid: np.ndarray,
    inner: list[Array],
    outer: list[Array],
    centres: Array,
    rules: np.ndarray,
    limits: np.ndarray,
    costs: np.ndarray,
    settings: np.ndarray,
    start: Records,
    goal: Records,
    weights: Array,
    actions: Array,
    level: Array,
    /,
) -> FootstepPath: ...
def footstep_costs(
    limits: np.ndarray, costs: np.ndarray, actions: Array, n: int, yaws: int, cell: float, /
) -> Array: ...
def group_spheres(spheres: Array, count: int, /) -> tuple[NDArray[np.int32], Array]: ...
def sphere_overlaps(
    bounding: Array,
    coarse: Array,
    coarse_start: NDArray[np.int32],
    fine: Array,
    fine_start: NDArray[np.int32],
    pairs: NDArray[np.int32],
    poses: Array,
    kept: int,
    /,
) -> list[tuple[int, NDArray[np.int32], Array]]: ...
def enclosing_sphere(spheres: Array, /) -> Array: ...

class ClearanceTable:
    def __init__(self, first: int, second: int, axes: Records, cells: NDArray[np.float32], /) -> None: ...

def clearances(
    query: CollisionQuery, pair: int, axes: Records, first: Solid, second: Solid, /
) -> NDArray[np.float32]: ...

class Solid: ...

def make_solid(triangles: Array, /) -> Solid: ...
def solid_distances(first: Solid, second: Solid, poses: Array, bound: float, /) -> list[float]: ...

class Spheres:
    def __init__(
        self,
        bodies: NDArray[np.int32],
        start: NDArray[np.int32],
        spheres: Array,
        pairs: NDArray[np.int32],
        tables: list[ClearanceTable],
        /,
    ) -> None: ...
    def decide_by_solids(self, solids: Sequence[Solid | None], slacks: Array, /) -> None: ...

class Surface:
    def signed_distances(self, points: Array, /) -> list[float]: ...

def point_surface(points: Array, /) -> Surface: ...
def triangle_surface(vertices: Array, faces: NDArray[np.int64], closed: bool, /) -> Surface: ...

class Obstacles:
    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, boxes: Records, capsules: Records, cylinders: Records, /) -> None: ...
    def add_box(self, size: Array, pose: Array, owner: int, /) -> None: ...
    def add_capsule(self, radius: float, length: float, pose: Array, owner: int, /) -> None: ...
    def add_cylinder(self, radius: float, length: float, pose: Array, owner: int, /) -> None: ...
    def add_surface(self, surface: Surface, pose: Array, radius: float, owner: int, /) -> None: ...

class CollisionQuery:
    moving_q: list[int]
    complete: bool
    pairs: list[tuple[int, int]]
    sweeps: Array
    pair_sweeps: Array
    def __init__(
        self,
        robot: Robot,
        spheres: Spheres,
        obstacles: Obstacles,
        allowed: NDArray[np.bool_],
        q: Array,
        lower: Array,
        upper: Array,
        moves: NDArray[np.bool_],
        check_fixed: bool,
        /,
    ) -> None: ...

class Touching(NamedTuple):
    obstacles: Array
    pairs: Array

def collision_free(robot: Robot, query: CollisionQuery, q: ArrayLike, out: Out = None, /) -> Array: ...
def motion_free(
    robot: Robot, query: CollisionQuery, q0: ArrayLike, q1: ArrayLike, resolution: float, out: Out = None, /
) -> Array: ...
def touching(robot: Robot, query: CollisionQuery, q: ArrayLike, out: None = None, /) -> Touching: ...

class DistanceQuery:
    obstacle_pairs: list[tuple[int, int]]
    address: float
    memory: int
    def __init__(
        self,
        robot: Robot,
        spheres: Spheres,
        obstacles: Obstacles,
        pairs: NDArray[np.int32],
        checked: NDArray[np.bool_],
        /,
    ) -> None: ...

class CollisionDistance(NamedTuple):
    distance: Array
    pair: Array
    points: Array
    gradient: Array

def collision_distance(
    robot: Robot, query: DistanceQuery, q: ArrayLike, max_distance: float, out: None = None, /
) -> CollisionDistance: ...
def pair_distances(
    robot: Robot, query: DistanceQuery, q: ArrayLike, max_distance: float, out: None = None, /
) -> Array: ...

class PlanningProblem:
    path: Array
    length_bound: float
    max_iterations: int
    max_edge_checks: int
    local_fraction: float
    continuous: bool
    iterations: int
    edge_checks: int
    checked_packs: int
    def __init__(
        self,
        query: CollisionQuery,
        settings: Records,
        seed: int,
        lower: Array,
        upper: Array,
        start: Array,
        goals: Array,
        /,
    ) -> None: ...
    def set_path(self, path: Array, /) -> None: ...

class ConstraintTable:
    def __init__(
        self, robot: Robot, constraints: Records, moves: NDArray[np.bool_], lower: Array, upper: Array, /
    ) -> None: ...

class ConstrainedProblem:
    path: Array
    iterations: int
    max_iterations: int
    steps: int
    def add_goals(self, goals: Array, /) -> None: ...
    def end_after(self, seconds: float, /) -> None: ...
    def __init__(
        self,
        query: CollisionQuery,
        constraints: ConstraintTable,
        settings: Records,
        seed: int,
        lower: Array,
        upper: Array,
        start: Array,
        goals: Array,
        samples_manifold: bool,
        /,
    ) -> None: ...

class Projected(NamedTuple):
    q: Array
    success: Array

def project_onto_path_constraints(
    robot: Robot, constraints: ConstraintTable, q: ArrayLike, iterations: int, out: None = None, /
) -> Projected: ...
def constraint_excess(robot: Robot, constraints: ConstraintTable, q: ArrayLike, out: Out = None, /) -> Array: ...
def constrained_rrt(problem: ConstrainedProblem, seconds: float, /) -> bool: ...
def shorten_constrained(problem: ConstrainedProblem, seconds: float, /) -> None: ...
def rrt_connect(problem: PlanningProblem, seconds: float, /) -> bool: ...
def shorten_path(problem: PlanningProblem, seconds: float, /) -> int: ...
def path_blocked(problem: PlanningProblem, seconds: float, /) -> int: ...
def curve_free(
    robot: Robot,
    query: CollisionQuery,
    spheres: Records,
    q: ArrayLike,
    coefficients: ArrayLike,
    duration: ArrayLike,
    start: ArrayLike,
    resolution: float,
    out: Out = None,
    /,
) -> Array: ...
def segment_speeds(segments: Array, corners: Array, /) -> tuple[Array, Array]: ...
def retarget(
    robot: Robot,
    settings: Records,
    frames: int,
    bodies: NDArray[np.int32],
    locals: Array,
    above_ground: NDArray[np.bool_],
    dofs: NDArray[np.int32],
    q: Array,
    z: Array,
    u: Array,
    moving: NDArray[np.bool_],
    damping: Array,
    target: Array,
    weight: Array,
    com_target: Array,
    com_weight: Array,
    row_gradient: Array,
    row_bound: Array,
    bounds: Array,
    weights: Array,
    point: Array,
    lowest: Array,
    com: Array,
    /,
) -> None: ...
def retarget_rows(
    robot: Robot,
    query: DistanceQuery,
    margin: float,
    watched: float,
    frames: NDArray[np.int64],
    q: Array,
    level: Array,
    number: NDArray[np.int32],
    dofs: NDArray[np.int32],
    gradient: Array,
    bound: Array,
    /,
) -> None: ...
def bone_positions(
    parents: NDArray[np.int32],
    offsets: Array,
    channels: NDArray[np.int32],
    values: Array,
    cosines: Array,
    sines: Array,
    /,
) -> Array: ...
def parse_rows(text: bytes, start: int, first: int, step: int, count: int, columns: int, /) -> Array | None: ...
