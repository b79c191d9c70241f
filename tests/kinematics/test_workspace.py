"""Workspaces: arms whose reach is known from paper, laws of the grid, files, pictures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Joint, Link
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.kinematics import Workspace, validation, workspace
from kinodyn.kinematics.workspaces import voxels
from kinodyn.kinematics.workspaces.sobol import sobol
from kinodyn.model.robot import Robot

L1, L2 = 1.0, 0.4
ARM = kd.from_dh([kd.DH(a=L1), kd.DH(a=L2)], name="ring")
RING = workspace(ARM, "link2", samples=2**18, resolution=0.02, approach="x", directions=40)
PANDA = kd.load("panda")
REACH = workspace(PANDA, "panda_hand_tcp", samples=2**17, resolution=0.1)


def at(x: float, y: float, z: float) -> Array:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def hinge(name: str, parent: str, child: str, T: Array, **options: Any) -> Joint:
    return Joint(name, "revolute", parent, child, T, **options)


def test_the_area_of_the_ring_is_between_its_inner_voxels_and_all_it_touches() -> None:
    area = np.pi * ((L1 + L2) ** 2 - (L1 - L2) ** 2)
    inside = (RING.reachable & ~RING.boundary).sum() * RING.resolution**2
    assert RING.dimension == 2
    assert inside < area < RING.volume
    assert RING.volume - inside < 0.12 * area


def test_every_reached_voxel_touches_the_ring_and_every_voxel_inside_the_ring_is_reached() -> None:
    half_diagonal = RING.resolution / np.sqrt(2.0)
    radius = np.linalg.norm(RING.points(), axis=-1)
    assert radius.min() >= L1 - L2 - half_diagonal and radius.max() <= L1 + L2 + half_diagonal
    layer = np.zeros_like(RING.reachable)
    layer[:, :, RING.counts.shape[2] // 2] = True
    missed = np.linalg.norm(RING.points(layer & ~RING.reachable), axis=-1)
    assert not ((missed > L1 - L2 + half_diagonal) & (missed < L1 + L2 - half_diagonal)).any()


def test_the_void_of_the_ring_is_its_hole() -> None:
    voids = RING.voids()
    radius = np.linalg.norm(RING.points(voids), axis=-1)
    assert radius.max() <= L1 - L2
    assert voids.sum() * RING.resolution**2 == pytest.approx(np.pi * (L1 - L2) ** 2, rel=0.1)
    assert not (voids & RING.reachable).any()


def test_a_disc_and_an_arm_with_random_gaps_have_no_voids() -> None:
    disc = workspace(kd.load("planar2r"), "link2", samples=2**16, resolution=0.05)
    assert not disc.voids().any()
    sparse = workspace(PANDA, "panda_hand_tcp", samples=2**13, resolution=0.1)
    assert sparse.voids(min_hits=0.0).any() and not sparse.voids().any()


def test_a_spherical_arm_leaves_a_spherical_void() -> None:
    """A forearm of 0.3 m on a ball elbow that a ball shoulder carries 0.8 m out: a shell from 0.5 to 1.1 m."""
    joints = (Joint("shoulder", "ball", "base", "upper"), Joint("elbow", "ball", "upper", "fore", at(0.8, 0.0, 0.0)))
    robot = Robot(Description("shell", (Link("base"), Link("upper"), Link("fore")), joints, ()))
    space = workspace(_with_tip(robot, "fore", at(0.3, 0.0, 0.0)), "tip", samples=2**17, resolution=0.1)
    assert space.max_reach == pytest.approx(1.1, abs=1e-9)
    assert space.dimension == 3
    assert np.linalg.norm(space.points(space.voids()), axis=-1).max() < 0.5
    assert space.contains([[0.0, 0.8, 0.0], [0.0, 0.0, -0.6], [0.0, 0.2, 0.0]]).tolist() == [True, True, False]
    voids = space.voids()
    assert voids.sum() * 0.1**3 == pytest.approx(4 / 3 * np.pi * 0.5**3, rel=0.35)


def _with_tip(robot: Robot, link: str, T: Array) -> Robot:
    d = robot.description
    joints = (*d.joints, Joint("weld", "fixed", link, "tip", T))
    return Robot(Description(d.name, (*d.links, Link("tip")), joints))


@pytest.mark.parametrize(("name", "frame", "length"), [("planar2r", "link2", 2.0), ("planar3r", "link3", 3.0)])
def test_the_maximum_reach_of_planar_arms_is_the_sum_of_their_lengths(name: str, frame: str, length: float) -> None:
    robot = kd.load(name)
    found = workspace(robot, frame, samples=2**12, resolution=0.2)
    assert found.max_reach == pytest.approx(length, abs=1e-12)
    reached = kd.kinematics.pose(robot, found.q_max_reach, frame)[:3, 3]
    assert np.linalg.norm(reached - found.centre) == pytest.approx(length, abs=1e-12)


def test_limits_reduce_the_maximum_reach() -> None:
    """An elbow that cannot open beyond 60 degrees: the law of cosines gives the reach."""
    joints = (
        hinge("first", "base", "upper", np.eye(4), lower=-1.0, upper=1.0),
        hinge("second", "upper", "fore", at(1.0, 0.0, 0.0), lower=np.pi / 3, upper=2.0),
    )
    robot = _with_tip(
        Robot(Description("stiff", (Link("base"), Link("upper"), Link("fore")), joints)), "fore", at(1, 0, 0)
    )
    found = workspace(robot, "tip", samples=2**13, resolution=0.1)
    assert found.max_reach == pytest.approx(np.sqrt(3.0), abs=1e-12)
    assert validation.within_limits(robot, found.q_max_reach)


def test_no_sample_of_the_panda_is_beyond_its_maximum_reach() -> None:
    q = PANDA.random(20_000, seed=9)
    away = kd.kinematics.pose(PANDA, q, "panda_hand_tcp")[:, :3, 3] - REACH.centre
    assert np.linalg.norm(away, axis=-1).max() <= REACH.max_reach
    np.testing.assert_allclose(REACH.centre, [0.0, 0.0, 0.333])
    assert validation.within_limits(PANDA, REACH.q_max_reach)


def test_probabilities_add_up_to_one_and_counts_to_samples() -> None:
    for space in (RING, REACH):
        assert space.counts.sum() == space.samples
        assert space.probability.sum() == pytest.approx(1.0)
        assert space.boundary[space.counts == 0].sum() == 0


def test_random_configurations_fall_into_reachable_voxels() -> None:
    positions = kd.kinematics.pose(PANDA, PANDA.random((50, 40), seed=3), "panda_hand_tcp")[..., :3, 3]
    inside = REACH.contains(positions)
    assert inside.shape == (50, 40) and inside.mean() > 0.995
    assert not REACH.contains([0.0, 0.0, 5.0]) and not REACH.contains([1.2, 0.0, 0.3])


def test_the_ring_is_seen_from_two_directions_everywhere_and_from_no_more() -> None:
    """Each place has two elbows, so the tool's x axis has two directions there; a voxel blurs them a little."""
    middle = np.abs(np.linalg.norm(RING.points(), axis=-1) - L1) < 0.2
    shares = RING.dexterity[RING.reachable][middle] * 40
    assert shares.min() >= 1 and shares.max() <= 4 and np.median(shares) == 2


def test_a_wrist_makes_dexterity_grow_with_samples_up_to_all_directions() -> None:
    """A ball wrist on a hinge: every direction, everywhere."""
    joints = (hinge("turn", "base", "arm", np.eye(4)), Joint("wrist", "ball", "arm", "hand", at(0.5, 0.0, 0.0)))
    robot = Robot(Description("wrist", (Link("base"), Link("arm"), Link("hand")), joints))
    few, many = (workspace(robot, "hand", samples=n, resolution=0.25, directions=30) for n in (2**7, 2**13))
    assert (many.dexterity[many.counts > 500] == 1.0).all()
    assert few.dexterity.sum() < many.dexterity.sum()
    assert set(np.unique(many.dexterity * 30)) <= set(np.arange(31.0))


def test_only_named_joints_move_and_the_others_keep_q0() -> None:
    circle = workspace(ARM, "link2", joints=["joint2"], q0=[np.pi / 2, 0.0], samples=2**12, resolution=0.01)
    np.testing.assert_allclose(circle.centre, [0.0, L1, 0.0], atol=1e-15)
    assert circle.max_reach == pytest.approx(L2, abs=1e-12)
    np.testing.assert_allclose(np.linalg.norm(circle.points() - [0.0, L1, 0.0], axis=-1), L2, atol=0.0072)


def test_the_workspace_of_a_free_robot_is_relative_to_its_base() -> None:
    robot = kd.load("humanoid")
    space = workspace(robot, "left_hand", samples=2**12)
    T = kd.kinematics.poses(robot, robot.neutral(), frames=["left_hand", "left_upper_arm"])
    assert space.max_reach < 1.2
    assert np.linalg.norm(T[0, :3, 3] - space.centre) <= space.max_reach
    assert (space.q_max_reach[:7] == robot.neutral()[:7]).all()


def test_the_seed_is_reproducible_and_progress_is_reported() -> None:
    calls: list[tuple[int, int]] = []
    first = workspace(ARM, "link2", samples=70_000, progress=lambda done, all_: calls.append((done, all_)))
    again = workspace(ARM, "link2", samples=70_000)
    other = workspace(ARM, "link2", samples=70_000, seed=1)
    assert calls == [(32768, 70000), (65536, 70000), (70000, 70000)]
    np.testing.assert_array_equal(first.counts, again.counts)
    assert first.counts.shape != other.counts.shape or (first.counts != other.counts).any()


def test_progress_returning_false_stops_with_a_partial_result() -> None:
    part = workspace(ARM, "link2", samples=70_000, progress=lambda done, all_: False)
    assert part.samples == part.counts.sum() == 2**15
    np.testing.assert_array_equal(part.counts, workspace(ARM, "link2", samples=2**15).counts)


def test_a_saved_workspace_is_restored_exactly(tmp_path: Path) -> None:
    path = tmp_path / "ring.workspace"
    RING.save(path)
    back = Workspace.load(path)
    for name in ("robot", "frame", "resolution", "samples", "max_reach"):
        assert getattr(back, name) == getattr(RING, name) and type(getattr(back, name)) is type(getattr(RING, name))
    for name in ("origin", "counts", "dexterity", "centre", "q_max_reach"):
        np.testing.assert_array_equal(getattr(back, name), getattr(RING, name))
    plain = workspace(ARM, "link2", samples=100, dexterous=False)
    plain.save(path)
    assert Workspace.load(path).dexterity.shape == (0, 0, 0)


def content() -> dict[str, Any]:
    names = (
        "robot",
        "frame",
        "origin",
        "resolution",
        "samples",
        "counts",
        "dexterity",
        "centre",
        "max_reach",
        "q_max_reach",
    )
    return {"format": "kinodyn workspace 1", **{name: getattr(RING, name) for name in names}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "something else"}, "has the format 'something else'"),
        ({"origin": np.zeros(4)}, r"origin is an array \(4,\)"),
        ({"counts": RING.counts.astype(float)}, "counts is an array .* of float64"),
        ({"counts": -RING.counts}, "not negative, and add up to samples"),
        ({"samples": 5}, "add up to samples"),
        ({"resolution": 0.0}, "resolution must be positive"),
        ({"max_reach": np.nan}, "max_reach is not finite"),
        ({"dexterity": np.zeros((2, 2, 2))}, "dexterity is an array"),
        ({"robot": np.array([{"a": 1}], dtype=object)}, "cannot be read as a saved workspace: Object arrays"),
    ],
)
def test_an_inconsistent_file_is_rejected(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, **{**content(), **change})
    with pytest.raises(InputError, match=message):
        Workspace.load(path)


def test_a_file_that_is_not_a_workspace_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "noise.npz"
    path.write_bytes(b"not a zip file")
    np.save(tmp_path / "array.npy", np.zeros(3))
    incomplete = content()
    del incomplete["counts"]
    np.savez(tmp_path / "incomplete.npz", **incomplete)
    for name in ("noise.npz", "array.npy", "incomplete.npz", "absent.npz"):
        with pytest.raises(InputError, match=f"{name} cannot be read as a saved workspace"):
            Workspace.load(tmp_path / name)


def test_a_slice_shows_the_requested_layer() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    ax = RING.plot_slice()
    shown = ax.images[0].get_array()
    layer = RING.probability[:, :, RING.counts.shape[2] // 2].T
    np.testing.assert_array_equal(shown.filled(0.0), layer)
    left, right, bottom, top = ax.images[0].get_extent()
    assert left < -1.4 < 1.4 < right and bottom < -1.4 < 1.4 < top and len(ax.images) == 2  # the second is the void
    ax = REACH.plot_slice(axis="y", at=0.3, quantity="dexterity")
    assert "y = 0.3 m" in ax.get_title() and ax.get_xlabel() == "x [m]" and ax.get_ylabel() == "z [m]"
    with pytest.raises(InputError, match="at is 9 m; the workspace spans"):
        REACH.plot_slice(at=9.0)
    with pytest.raises(InputError, match='axis must be "x", "y" or "z"'):
        REACH.plot_slice(axis="w")
    pyplot.close("all")


def test_a_cloud_shows_reachable_voxels_with_the_front_quarter_left_out() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    ax = REACH.plot_cloud()
    x, y, _ = ax.collections[0]._offsets3d
    front = (REACH.points()[:, 0] > 0) & (REACH.points()[:, 1] < 0)
    assert (
        len(x) == REACH.reachable.sum() - front.sum() and not ((np.asarray(x) > 1e-9) & (np.asarray(y) < -1e-9)).any()
    )
    flat = RING.plot_cloud()
    assert len(flat.collections[0]._offsets3d[0]) == RING.reachable.sum()
    with pytest.raises(InputError, match="ax is two-dimensional"):
        REACH.plot_cloud(ax=pyplot.figure().add_subplot())
    with pytest.raises(InputError, match='quantity must be "probability" or "dexterity"'):
        REACH.plot_cloud(quantity="colour")
    with pytest.raises(InputError, match="made with dexterous=False"):
        workspace(ARM, "link2", samples=10, dexterous=False).plot_cloud(quantity="dexterity")
    pyplot.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "samples must be an integer from 1"),
        ({"samples": 1.5}, "samples must be an integer, got 1.5"),
        ({"resolution": -0.1}, "resolution must be a positive number"),
        ({"resolution": np.nan}, "resolution must be a positive number"),
        ({"resolution": 1e-9}, "too fine for a reach"),
        ({"resolution": 1e-4}, "more than 50000000; use a larger resolution"),
        ({"directions": 5000}, "directions must be an integer from 1 to 2000"),
        ({"approach": "w"}, 'approach must be "x", "y" or "z"'),
        ({"seed": -1}, "seed must be"),
        ({"q0": np.zeros((2, 7))}, r"q0 must be one configuration of shape \(7,\), got \(2, 7\)"),
        ({"joints": "panda_joint1"}, "joints must be a list of strings or None, got 'panda_joint1'"),
        ({"joints": []}, "none of the given joints moves frame"),
        ({"progress": 3}, r"progress must be a function or None"),
    ],
)
def test_invalid_options_are_rejected(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        workspace(PANDA, "panda_hand_tcp", **{"samples": 1000, **options})


def test_unbounded_joints_and_unknown_names_are_rejected() -> None:
    slide = Robot(Description("slide", (Link("base"), Link("cart")), (Joint("rail", "prismatic", "base", "cart"),)))
    with pytest.raises(InputError, match="joint 'rail' slides without limit"):
        workspace(slide, "cart")
    with pytest.raises(UnknownNameError, match="unknown frame"):
        workspace(PANDA, "hand")
    with pytest.raises(UnknownNameError, match="unknown joint 'joint9'"):
        workspace(PANDA, "panda_hand_tcp", joints=["joint9"])
    with pytest.raises(InputError, match="mask must be booleans"):
        RING.points(np.array([True, False]))
    with pytest.raises(InputError, match="min_hits must be a nonnegative number"):
        RING.voids(min_hits=-1)
    with pytest.raises(InputError, match=r"points must have shape \(..., 3\)"):
        RING.contains([0.0, 1.0])


@pytest.mark.parametrize("dimensions", [1, 2, 6, 21])
def test_points_of_the_sobol_sequence_are_those_of_scipy(dimensions):
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=False, bits=30)
    sequence.fast_forward(100_000)
    expected = sequence.random(5000)
    np.testing.assert_array_equal(sobol(dimensions, np.arange(100_000, 105_000)), expected)
    np.testing.assert_array_equal(sobol(dimensions, np.array([104_999, 100_000])), expected[[-1, 0]])
    assert sobol(dimensions, np.zeros(0, dtype=np.int64)).shape == (0, dimensions)


@given(st.lists(st.lists(st.integers(0, 20), max_size=30), max_size=8), st.integers(1, 30))
def test_keys_are_counted_however_they_are_merged(parts, least):
    counts = voxels.KeyCounts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(voxels, "MIN_MERGED", least)
        for k, part in enumerate(parts):
            keys = np.array(part, dtype=np.int64)
            counts.add(keys, None if k % 2 else np.full(len(keys), 2))
        found = dict(zip(*(each.tolist() for each in counts.totals()), strict=True))
    expected: Counter[int] = Counter()
    for k, part in enumerate(parts):
        for key in part:
            expected[key] += 1 if k % 2 else 2
    assert found == dict(expected) and list(found) == sorted(found)
