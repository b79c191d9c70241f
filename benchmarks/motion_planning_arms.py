"""Plan for many arms in the seven kinds of scene of MotionBenchMaker, from files as MoveIt writes them.

    python benchmarks/motion_planning_arms.py                          # every arm of the list, 5 problems of each kind
    python benchmarks/motion_planning_arms.py ur5 baxter --count 20    # some of them
    python benchmarks/motion_planning_arms.py --out FOLDER --json

For each arm a set of problems is made: an SRDF file with its group, scenes and requests in YAML. They are read again,
planned with the default settings, and every path is checked by coal on the original shapes at 16 times the usual
density. Goals in a cage are reached from above, not through its bars; some problems may still have no solution. Needs
the extras robots and planning.
`motion_planning.py --problems FOLDER/ARM` measures a set kept by --out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kinodyn as kd
import motion_planning as benchmark
import motion_planning_scenes as scenes
import motion_planning_tables as tables
from kinodyn.arrays import Array
from kinodyn.description.example_robot_data import robot_files
from motion_planning_problems import load_robot, read_problems

GROUP = "planned"
POSES = 256  # random poses of the tool in a scene, of which those that are free can be goals
HOMES = 4096  # random configurations, of which the start is one
DRAWN = 200_000  # random configurations, of which the goal of an arm with few joints is one


@dataclass(frozen=True)
class Arm:
    """A file, and the chains that are planned for: pairs of base link and tool link.

    The file is a name of example-robot-data, or one beside this script.
    """

    file: str
    chains: tuple[tuple[str, str], ...]
    yaw: float = 0.0


ARMS = {
    "ur3": Arm("ur3_robot", (("base_link", "tool0"),)),
    "ur5": Arm("ur5_robot", (("base_link", "tool0"),)),
    "ur10": Arm("ur10_robot", (("base_link", "tool0"),)),
    "ur5_gripper": Arm("ur5_gripper", (("base_link", "tool0"),)),
    "xarm7": Arm("xarm7", (("link_base", "link_eef"),)),
    "kinova": Arm("kinova", (("j2s6s200_link_base", "j2s6s200_end_effector"),)),
    "z1": Arm("z1", (("link00", "gripperStator"),)),
    "tiago": Arm("tiago", (("torso_fixed_link", "hand_palm_link"),)),
    "pr2": Arm("pr2", (("torso_lift_link", "r_gripper_tool_frame"),)),
    "pr2_torso": Arm("pr2", (("base_link", "r_gripper_tool_frame"),)),
    "panda": Arm("panda", (("panda_link0", "panda_hand_tcp"),)),
    "so101": Arm("so101", (("base_link", "gripper_frame_link"),)),
    "so100": Arm("so100", (("base", "gripper"),)),
    "tiago_dual": Arm(
        "tiago_dual", (("torso_lift_link", "arm_left_tool_link"), ("torso_lift_link", "arm_right_tool_link"))
    ),
    "tiago_pro": Arm("tiago_pro", (("torso_lift_link", "arm_left_tool_link"),)),
    "talos_arm": Arm("talos_reduced", (("torso_2_link", "gripper_left_base_link"),)),
    "mobile": Arm("mobile_manipulator.urdf", (("base_link", "gripper_link"),)),
    "mobile_base": Arm("mobile_manipulator.urdf", (("map", "gripper_link"),)),
    "baxter": Arm("baxter", (("torso", "left_gripper"),)),
    "baxter_both": Arm("baxter", (("torso", "left_gripper"), ("torso", "right_gripper"))),
    "tiago_pro_both": Arm(
        "tiago_pro", (("torso_lift_link", "arm_left_tool_link"), ("torso_lift_link", "arm_right_tool_link"))
    ),
}


def urdf_of(arm: Arm) -> Path:
    """Return the file of an arm."""
    beside = Path(__file__).parent / arm.file
    path = beside if beside.suffix else robot_files().find(arm.file)
    if path is None:
        raise SystemExit(f"{arm.file} was not found: pip install 'kinodyn[robots]'")
    return path


def write_srdf(arm: Arm, path: Path) -> Path:
    """Write a file with a group for each chain, one for all of them, and the pairs of the robot's own SRDF file."""
    names = [GROUP] if len(arm.chains) == 1 else [f"{GROUP}{k}" for k in range(len(arm.chains))]
    groups = [
        f'<group name="{name}"><chain base_link="{base}" tip_link="{tip}"/></group>'
        for name, (base, tip) in zip(names, arm.chains, strict=True)
    ]
    if len(names) > 1:
        members = "".join(f'<group name="{name}"/>' for name in names)
        groups.append(f'<group name="{GROUP}">{members}</group>')
    own = kd.load(urdf_of(arm) if Path(arm.file).suffix else arm.file).description.collision_exclusions
    pairs = [f'<disable_collisions link1="{a}" link2="{b}" reason="User"/>' for a, b in sorted(map(sorted, own))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<robot name="{arm.file}">{"".join(groups + pairs)}</robot>')
    return path


class Maker:
    """Makes problems for one arm."""

    def __init__(self, robot: kd.Robot, arm: Arm) -> None:
        self.robot, self.arm = robot, arm
        joints = [robot.joint(name) for name in robot.description.chains[GROUP]]
        self.joints = [joint for joint in joints if joint.mimic is None]
        self.columns = [joint.q.start for joint in self.joints]
        self.tools = [tip for _, tip in arm.chains]
        self.homes = self._homes()
        T = kd.kinematics.poses(robot, self.homes[:512], frames=self.tools)[..., :3, 3]
        first = [next(j for j in robot.description.chains[self._group(k)]) for k in range(len(self.tools))]
        children = [next(j.child for j in robot.description.joints if j.name == name) for name in first]
        self.shoulders = kd.kinematics.poses(robot, self.homes[0], frames=children)[:, :3, 3]
        self.reach = float(np.quantile(np.linalg.norm(T - self.shoulders, axis=-1), 0.95))

    def _group(self, k: int) -> str:
        return GROUP if len(self.tools) == 1 else f"{GROUP}{k}"

    def _homes(self) -> Array:
        """Return configurations, those near the middle of the limits first; other joints are where nothing touches."""
        q = np.tile(self._at_rest(), (HOMES, 1))
        rng = np.random.default_rng(0)
        low, high = self.robot.sampling_range()
        low, high = low[self.columns], high[self.columns]
        q[:, self.columns] = rng.uniform(low, high, (HOMES, len(self.columns)))
        apart = np.abs(q[:, self.columns] - 0.5 * (low + high)) / (high - low)
        return np.asarray(q[np.argsort(apart.max(axis=1))])

    def _at_rest(self) -> Array:
        """Return the neutral configuration, or a random one if links of other joints touch each other there."""
        own = {link for name in self.robot.description.chains[GROUP] for link in links_below(self.robot, name)}
        for q in (self.robot.neutral(), *self.robot.random(HOMES, seed=1)):
            touching = kd.collision.contacts(self.robot, q)
            if all(own.intersection(contact.names) for contact in touching):
                return np.asarray(q)
        raise SystemExit(f"{self.robot.name}: its other links touch each other in {HOMES} configurations")

    def problem(self, kind: str, seed: int) -> tuple[scenes.Scene, Array, Array] | None:
        """Return a scene with start and goal (nq,), both free; None if there are none."""
        rng = np.random.default_rng(seed)
        scene = scenes.sample(kind, rng, self.reach, self.shoulders.mean(axis=0), self.arm.yaw)
        world = world_of(scene)
        start = next((q for q in self.homes[: HOMES // 8] if self._is_start(q, world, scene)), None)
        if start is None:
            return None
        goals = self._goals(scene, start, world_of(scene, barriers=True), rng, seed)
        return (scene, start, goals[0]) if len(goals) else None

    def _goals(
        self, scene: scenes.Scene, start: Array, world: kd.collision.World, rng: np.random.Generator, seed: int
    ) -> Array:
        """Return free configurations (n, nq) with the tools in the regions of a scene.

        An arm with fewer than six joints cannot reach a given pose: its configurations are drawn at random.
        """
        if len(self.joints) >= 6 * len(self.tools):
            targets = {tool: random_poses(scene, rng) for tool in self.tools}
            names = tuple(joint.name for joint in self.joints)
            found = kd.ik.solve(self.robot, targets, start, joints=names, world=world, seed=seed, time_limit=5.0)
            return np.asarray(found.q[found.success])
        q = np.tile(start, (DRAWN, 1))
        low, high = self.robot.sampling_range()
        q[:, self.columns] = rng.uniform(low[self.columns], high[self.columns], (DRAWN, len(self.columns)))
        tools = kd.kinematics.poses(self.robot, q, frames=self.tools)[..., :3, 3]
        inside = [np.abs(tools - centre).max(axis=(1, 2)) <= np.max(half) for centre, half in scene.regions]
        q = q[np.any(inside, axis=0)]
        return np.array([one for one in q[:POSES] if self._is_free(one, world)])

    def _is_free(self, q: Array, world: kd.collision.World) -> bool:
        return not kd.collision.contacts(self.robot, q, world)

    def _is_start(self, q: Array, world: kd.collision.World, scene: scenes.Scene) -> bool:
        if not self._is_free(q, world):
            return False
        tools = kd.kinematics.poses(self.robot, q, frames=self.tools)[:, :3, 3]
        return all(np.linalg.norm(tools - centre, axis=1).min() > 0.4 * self.reach for centre, _ in scene.regions)


def links_below(robot: kd.Robot, joint: str) -> set[str]:
    """Return the links that a joint moves."""
    children: dict[str, list[str]] = {}
    for each in robot.description.joints:
        children.setdefault(each.parent, []).append(each.child)
    waiting = [next(each.child for each in robot.description.joints if each.name == joint)]
    found: set[str] = set()
    while waiting:
        link = waiting.pop()
        found.add(link)
        waiting += children.get(link, [])
    return found


def world_of(scene: scenes.Scene, *, barriers: bool = False) -> kd.collision.World:
    """Return the obstacles of a scene, and the barriers if asked for."""
    world = kd.collision.World()
    for part in (*scene.obstacles, *(scene.barriers if barriers else ())):
        pose = (part.position, kd.spatial.rot_z(part.yaw))
        if part.kind == "box":
            world.add_box(part.name, part.dimensions, pose)
        else:
            world.add_cylinder(part.name, part.dimensions[1], part.dimensions[0], pose)
    return world


def random_poses(scene: scenes.Scene, rng: np.random.Generator) -> Array:
    """Return poses (n, 4, 4) in the regions of a scene, with any orientation."""
    centre, half = np.array(scene.regions)[rng.integers(len(scene.regions), size=POSES)].transpose(1, 0, 2)
    quaternions = rng.normal(size=(POSES, 4))
    T = np.tile(np.eye(4), (POSES, 1, 1))
    T[:, :3, :3] = kd.spatial.from_quaternion(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))
    T[:, :3, 3] = centre + half * rng.uniform(-1.0, 1.0, (POSES, 3))
    return T


def scene_message(robot: kd.Robot, scene: scenes.Scene, q: Array) -> dict[str, Any]:
    """Return a PlanningScene."""
    objects = [
        {
            "id": part.name,
            "primitives": [{"type": part.kind, "dimensions": list(part.dimensions)}],
            "primitive_poses": [
                {"position": list(part.position), "orientation": [0.0, 0.0, np.sin(part.yaw / 2), np.cos(part.yaw / 2)]}
            ],
        }
        for part in scene.obstacles
    ]
    return {"robot_model_name": robot.name, "robot_state": state(robot, q), "world": {"collision_objects": objects}}


def state(robot: kd.Robot, q: Array) -> dict[str, Any]:
    """Return a RobotState of all joints with one coordinate."""
    single = [joint for joint in robot.joints if joint.mimic is None and joint.q.stop - joint.q.start == 1]
    return {
        "joint_state": {
            "name": [joint.name for joint in single],
            "position": [float(q[joint.q.start]) for joint in single],
        }
    }


def request_message(maker: Maker, start: Array, goal: Array) -> dict[str, Any]:
    """Return a MotionPlanRequest."""
    constraints = [
        {"joint_name": joint.name, "position": float(goal[joint.q.start]), "weight": 1.0} for joint in maker.joints
    ]
    return {
        "group_name": GROUP,
        "start_state": state(maker.robot, start),
        "goal_constraints": [{"joint_constraints": constraints}],
    }


def write_problems(maker: Maker, folder: Path, count: int) -> list[str]:
    """Write problems of each kind; return the kinds of which some could not be made."""
    short = []
    for kind in scenes.KINDS:
        made = 0
        for seed in range(3 * count):
            problem = maker.problem(kind, seed) if made < count else None
            if problem is None:
                continue
            made += 1
            scene, start, goal = problem
            into = folder / kind
            into.mkdir(parents=True, exist_ok=True)
            files = {"scene": scene_message(maker.robot, scene, start), "request": request_message(maker, start, goal)}
            for name, message in files.items():
                # numbers in JSON are numbers in YAML
                (into / f"{name}{made:04d}.yaml").write_text(json.dumps(plain(message), indent=1))
        short += [kind] * (made < count)
    return short


def plain(message: Any) -> Any:
    """Return a message with Python's own numbers."""
    if isinstance(message, dict):
        return {name: plain(part) for name, part in message.items()}
    if isinstance(message, list):
        return [plain(part) for part in message]
    return float(message) if isinstance(message, np.floating) else message


def measure(name: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Make the problems of an arm, read them again, plan them and check the paths."""
    arm, place = ARMS[name], folder / name
    srdf = write_srdf(arm, place / "arm.srdf")
    robot = load_robot(urdf_of(arm), srdf)
    short = write_problems(Maker(robot, arm), place, options.count)
    problems = read_problems(place, robot, None)
    effort = benchmark.QUICK if options.quick else benchmark.Effort(rounds=options.rounds)
    runs = benchmark.plan_all(robot, problems, effort.rounds, options.seed, options.time_budget)
    rows = [run.row() for run in runs]
    return {
        "robot": name,
        "joints": len(robot.description.chains[GROUP]),
        "spheres": len(kd.collision.robot_spheres(robot).fine),
        "fewer problems than asked for": short,
        "families": {
            kind: tables.summary([row for row in rows if kind in (row["family"], benchmark.TOTAL)])
            for kind in [*sorted({row["family"] for row in rows}), benchmark.TOTAL]
        },
        "check us": benchmark.check_cost(robot, problems, effort),
        "verification": benchmark.verify(robot, runs),
        "problems": rows,
    }


def lines(report: dict[str, Any]) -> Iterator[str]:
    """Format the result of an arm."""
    total, check = report["families"][benchmark.TOTAL], report["check us"][benchmark.TOTAL]
    us = {part: total.get(part, {"median": np.nan, "95 %": np.nan}) for part in ("planning", "simplification", "call")}
    figures = ", ".join(f"{part} {value['median']:.0f} / {value['95 %']:.0f} us" for part, value in us.items())
    solved = f"{total['status'].get('solved', 0)} of {total['problems']} solved"
    size = f"{report['joints']} joints, {report['spheres']} spheres"
    yield f"{report['robot']}: {size}; {solved}; {figures}; check {check:.3f} us"
    yield from ("  " + line for line in tables.verified(report["verification"]).splitlines())
    yield from tables.unsolved(report["problems"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arms", nargs="*", metavar="ARM", help=f"of {', '.join(ARMS)}")
    parser.add_argument("--count", type=int, default=5, help="problems of each kind")
    parser.add_argument("--rounds", type=int, default=2, help="how often each is planned; the best time counts")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to keep the files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-budget", type=float, default=1.0, help="of a plan [s]")
    parser.add_argument("--quick", action="store_true", help="one round, small batches: a smoke test")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.arms if name not in ARMS]
    if unknown:
        parser.error(f"unknown arms {unknown}; there are {', '.join(ARMS)}")
    kd.set_threads(1)
    reports = []
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        for name in options.arms or ARMS:
            reports.append(measure(name, options.out or Path(scratch), options))
            if not options.json:
                print("\n".join(lines(reports[-1])), flush=True)
    if options.json:
        print(json.dumps(reports, indent=2))


if __name__ == "__main__":
    main()
