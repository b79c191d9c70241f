"""Heights, normals and maps of terrains agree with MuJoCo's own rays and contacts."""

from __future__ import annotations

from pathlib import Path

import mujoco as mj
import numpy as np
import pytest
import trimesh

import kinodyn as kd
from kinodyn.errors import DescriptionError, InputError
from kinodyn.sim.terrain_geoms import add_terrain
from kinodyn.terrain import Box, HeightMap, Mesh, Terrain

TEXTS = (
    "flat",
    "slope:10",
    "slope:-10",
    "slope:8,across",
    "stairs:0.185,0.24,10",
    "stairs:-0.1,0.3,4",
    "stones:0.3,0.1,0.03,seed=2",
    "boxes:0.08,seed=1",
    "field:0.05,seed=3",
)


def tilted_box(seed: int) -> Box:
    rng = np.random.default_rng(seed)
    T = np.eye(4)
    T[:3, :3] = kd.spatial.rot_z(rng.uniform(0, 6)) @ kd.spatial.rot_x(rng.uniform(-1, 1))
    T[:3, 3] = rng.uniform(-1, 1, 3)
    return Box(rng.uniform(0.1, 1.0, 3), T)


def hills() -> Mesh:
    """Make an open surface that is not convex."""
    x, y = np.meshgrid(np.linspace(-1, 1, 21), np.linspace(-1, 1, 21), indexing="ij")
    grid = kd.contact.HeightField(0.1 * np.sin(3 * x) * np.cos(2 * y), 0.1, (-1, -1))
    parts = kd.sim.terrain_mesh.terrain_mesh(grid)
    return Mesh(parts["vertices"], parts["faces"])


def pyramids() -> Mesh:
    first = trimesh.creation.cone(radius=0.4, height=0.3, sections=7)
    second = trimesh.creation.box((0.5, 0.3, 0.2))
    second.apply_translation((0.9, 0.1, 0.2))
    both = trimesh.util.concatenate([first, second])
    return Mesh(both.vertices, both.faces)


def compiled(terrain: Terrain, ball: bool = False) -> mj.MjModel:
    spec = mj.MjSpec()
    add_terrain(spec, terrain, lambda **details: spec.worldbody.add_geom(**details))
    if ball:
        body = spec.worldbody.add_body(name="ball")
        body.add_freejoint()
        body.add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, size=[0.02, 0, 0], name="ball")
    return spec.compile()


def ray_heights(model: mj.MjModel, xy: np.ndarray) -> np.ndarray:
    data = mj.MjData(model)
    mj.mj_forward(model, data)
    geom, top, found = np.zeros(1, dtype=np.int32), 10.0, []
    for x, y in xy:
        distance = mj.mj_ray(model, data, np.array([x, y, top]), np.array([0.0, 0.0, -1.0]), None, 1, -1, geom)
        found.append(top - distance if distance >= 0 else -np.inf)
    return np.array(found)


def places(terrain: Terrain, count: int, seed: int = 0) -> np.ndarray:
    low, high = terrain.region
    return np.random.default_rng(seed).uniform(low - 0.2, high + 0.2, (count, 2))


@pytest.mark.parametrize("text", TEXTS)
def test_heights_are_those_of_rays_in_mujoco(text: str) -> None:
    terrain = kd.terrain.parse(text)
    xy = places(terrain, 400)
    np.testing.assert_allclose(terrain.height(xy), ray_heights(compiled(terrain), xy), atol=2e-6)


@pytest.mark.parametrize("seed", range(6))
def test_boxes_in_any_pose_are_hit_as_in_mujoco(seed: int) -> None:
    terrain = Terrain([tilted_box(seed), tilted_box(seed + 50)])
    xy = places(terrain, 300, seed)
    heights = terrain.height(xy)
    assert np.isfinite(heights).any() and np.isinf(heights).any()
    np.testing.assert_allclose(heights, ray_heights(compiled(terrain), xy), atol=1e-9)


def test_meshes_are_hit_as_in_mujoco_part_by_part() -> None:
    terrain = Terrain([pyramids()])
    model = compiled(terrain)
    assert model.ngeom == 2  # convex parts stay apart
    xy = places(terrain, 400)
    np.testing.assert_allclose(terrain.height(xy), ray_heights(model, xy), atol=1e-6)


def test_a_mesh_that_is_not_convex_becomes_a_height_field() -> None:
    terrain = Terrain([hills()])
    model = compiled(terrain)
    assert model.geom_type[0] == mj.mjtGeom.mjGEOM_HFIELD
    xy = np.random.default_rng(0).uniform(-0.95, 0.95, (300, 2))
    np.testing.assert_allclose(terrain.height(xy), ray_heights(model, xy), atol=2e-3)


@pytest.mark.parametrize("text", ["slope:10", "slope:8,across", "field:0.05,seed=3"])
def test_normals_are_those_of_the_surface(text: str) -> None:
    terrain = kd.terrain.parse(text)
    xy = np.random.default_rng(1).uniform((0.6, -1.0), (3.0, 1.0), (200, 2))
    heights, normals = terrain.surface(xy)
    step = 1e-6
    slopes = [(terrain.height(xy + step * axis) - heights) / step for axis in np.eye(2)]
    expected = np.column_stack([-slopes[0], -slopes[1], np.ones(len(xy))])
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    close = np.abs(normals - expected).max(axis=1) < 1e-4
    assert close.mean() > 0.99  # but where the step crosses an edge of a triangle


@pytest.mark.parametrize("text", ["stairs:0.185,0.24,10", "boxes:0.08,seed=1", "slope:10"])
def test_contacts_begin_at_the_surface(text: str) -> None:
    """A ball whose lowest point is at the surface, where that is level or a plane around it, just touches in MuJoCo."""
    terrain = kd.terrain.parse(text)
    model = compiled(terrain, ball=True)
    data, radius, checked = mj.MjData(model), 0.02, 0
    around = 0.03 * np.array([(np.cos(a), np.sin(a)) for a in np.arange(8) * np.pi / 4])
    for xy in np.random.default_rng(2).uniform((-0.5, -0.6), (3.0, 0.6), (60, 2)):
        height, normal = terrain.surface(xy)
        plane = height - (around @ normal[:2]) / normal[2]
        if np.abs(terrain.height(xy + around) - plane).max() > 1e-9:
            continue
        checked += 1
        for gap in (-1e-4, 1e-4):
            data.qpos[:3] = np.array([*xy, height]) + (radius + gap) * normal
            mj.mj_forward(model, data)
            assert (data.ncon > 0) == (gap < 0)
    assert checked > 20


def test_a_map_has_the_heights_of_the_terrain_and_its_errors_are_as_asked() -> None:
    terrain = kd.terrain.parse("boxes:0.08,seed=1")
    exact, noisy = terrain.map(cell=0.02), terrain.map(cell=0.02).disturbed(0.01, 0.05, seed=4)
    i, j = 70, 90
    centre = exact.origin + exact.cell * np.array([i, j])
    assert exact.heights[i, j] == terrain.height(centre) == exact.height(centre)
    errors = noisy.heights - exact.heights
    assert abs(errors.mean() - 0.05) < 1e-3 and abs(errors.std() - 0.01) < 5e-4
    assert np.array_equal(noisy.heights, terrain.map(cell=0.02).disturbed(0.01, 0.05, seed=4).heights)
    assert np.abs(noisy.smoothed().heights - exact.heights - 0.05).mean() < 0.4 * np.abs(errors - 0.05).mean()


def test_the_highest_cell_within_a_radius_is_found() -> None:
    heights = np.random.default_rng(0).uniform(size=(40, 30))
    field = HeightMap(heights, cell=0.1)
    found = field.highest(0.45)
    i, j = np.mgrid[:40, :30]
    for a, b in ((0, 0), (20, 15), (39, 29), (3, 28)):
        near = (i - a) ** 2 + (j - b) ** 2 <= 25
        assert found.heights[a, b] == heights[near].max()


def test_an_image_is_read_with_its_size_and_heights(tmp_path: Path) -> None:
    from PIL import Image

    grey = np.array([[0, 255, 0], [0, 0, 51]], dtype=np.uint8)  # rows from top to bottom
    Image.fromarray(grey).save(tmp_path / "map.png")
    terrain = kd.terrain.parse(f"{tmp_path / 'map.png'}:0.5,1.0")
    middle = float(terrain.height((0.0, 0.0)))
    assert middle == 0.0  # the origin is at height 0
    corner = terrain.height([[0.0, 0.25], [0.5, -0.25], [-0.5, 0.25]])
    np.testing.assert_allclose(corner - corner[2], [1.0, 0.2, 0.0], atol=1e-12)


def test_height_fields_of_a_mjcf_file_are_where_mujoco_has_them(tmp_path: Path) -> None:
    text = """<mujoco><asset><hfield name="h" nrow="3" ncol="4" size="2 1 0.4 0.1" elevation="0 1 2 3 4 5 6 7 8 9 0 1"/>
    </asset><worldbody><geom type="hfield" hfield="h" pos="1 0.5 -0.1"/></worldbody></mujoco>"""
    (tmp_path / "world.xml").write_text(text)
    terrain = kd.terrain.parse(str(tmp_path / "world.xml"))
    xy = np.random.default_rng(0).uniform((-1, -0.5), (3, 1.5), (200, 2))
    rays = ray_heights(mj.MjModel.from_xml_path(str(tmp_path / "world.xml")), xy)
    np.testing.assert_allclose(terrain.height(xy), rays, atol=1e-6)


BAD = [
    *("", "hills", "stairs", "stairs:0.1", "stairs:0.1,0.2,x", "stairs:0.1,0.2,0", "stairs:0.1,0.2,3,1,1"),
    *(
        "stairs:nan,0.2,3",
        "stairs:0.1,-0.2,3",
        "stairs:0.1,0.2,3,rise=1",
        "slope:80",
        "slope:10,up",
        "slope:10,steep=3",
    ),
    *("field:1e9", "boxes:1e9", "boxes:0.1,1e9", "stones:1e9", "stones:0.3,1e9", "stones:0.3,0.1,1e9"),
    *("stairs:0.1,1e9,1", "stairs:0.1,1.0,1000"),
    *("stones:0.001,0.0", "boxes:0.08,0.001", "field:0.05,1e9", "field:0.05,seed=-1", "nothing.png", "map.txt"),
]


@pytest.mark.parametrize("text", BAD)
def test_wrong_text_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(InputError):
        kd.terrain.parse(text)


def test_unknown_kinds_are_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"stairs:rise,tread,count.*stones.*boxes.*field.*\.png"):
        kd.terrain.parse("hills:3")


def test_broken_files_are_refused(tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "map.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing of use")
    with pytest.raises(InputError, match="PNG"):
        kd.terrain.from_image(tmp_path / "map.png")
    Image.new("1", (20_000, 20_000)).save(tmp_path / "bomb.png")
    with pytest.raises(InputError, match="pixels"):
        kd.terrain.from_image(tmp_path / "bomb.png")
    (tmp_path / "world.xml").write_text("<mujoco/>")
    with pytest.raises(DescriptionError, match="hfield"):
        kd.terrain.from_mjcf(tmp_path / "world.xml")


@pytest.mark.parametrize(
    "heights", [[[0.0, np.nan], [0.0, 0.0]], [[1.0]], [], [[[1.0]]], np.zeros((3000, 3000)), "flat"]
)
def test_wrong_heights_are_refused(heights: object) -> None:
    with pytest.raises(InputError):
        kd.terrain.from_heights(heights, 0.05)  # type: ignore[arg-type]


def test_wrong_maps_and_shapes_are_refused() -> None:
    terrain = kd.terrain.flat()
    for cell in (0.0, -1.0, np.nan, 1e-6):
        with pytest.raises(InputError):
            terrain.map(cell=cell)
    with pytest.raises(InputError, match="cells"):
        terrain.map(region=[[0, 0], [1e6, 1e6]])
    with pytest.raises(InputError):
        HeightMap([[np.nan]], cell=0.1)
    with pytest.raises(InputError):
        Terrain([])
    with pytest.raises(InputError):
        Terrain([kd.contact.Plane(normal=(1, 0, 0))])
    with pytest.raises(InputError):
        Box((1.0, 0.0, 1.0))
    with pytest.raises(InputError):
        Mesh([[0.0, 0, 0]], [[0, 0, 1]])


def test_a_recording_on_a_terrain_shows_its_triangles() -> None:
    robot = kd.load("humanoid")
    simulator = kd.sim.MujocoSimulator(robot, ground=kd.terrain.stairs(0.1, 0.3, 2))
    assert simulator.terrain["vertices"][:, 2].max() == pytest.approx(0.2)
    with pytest.raises(InputError, match="not both"):
        kd.walking.walk(robot, terrain=kd.terrain.flat(), ground=kd.contact.Plane())


def test_heights_above_a_terrain_are_those_above_its_shape() -> None:
    p = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3))
    plane = kd.contact.Plane([0.1, 0.2, 0.3], [-0.2, 0.1, 1.0])
    for found, expected in zip(Terrain([plane]).height_and_normal(p), plane.height_and_normal(p), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (0.2, 0.0), (0.0, -0.3), (0.25, 0.15)])
def test_a_box_lies_on_the_ground_with_its_sides_along_x_and_its_top_parallel_to_the_ground(
    tilt: tuple[float, float],
) -> None:
    n = np.array([-tilt[0], -tilt[1], 1.0])
    n /= np.linalg.norm(n)
    ground = Terrain([kd.contact.Plane((0.0, 0.0, 0.3), n)])
    length, width, height = 0.4, 0.2, 0.05
    terrain = ground.with_box(1.0, -0.5, (length, width, height))
    x_axis = np.array([n[2], 0.0, -n[0]]) / np.hypot(n[0], n[2])
    y_axis = np.cross(n, x_axis)
    foot = np.array([1.0, -0.5, float(ground.height([1.0, -0.5]))])
    for s, t in ((0.0, 0.0), (0.49, 0.49), (-0.49, 0.49), (0.49, -0.49), (-0.49, -0.49)):
        top = foot + height * n + s * length * x_axis + t * width * y_axis
        np.testing.assert_allclose(terrain.height(top[:2]), top[2], rtol=0, atol=1e-9)
        np.testing.assert_allclose(terrain.height_and_normal(top)[1], n, rtol=0, atol=1e-9)
    for s, t in ((0.52, 0.0), (-0.52, 0.0), (0.0, 0.54), (0.0, -0.54)):
        beside = foot + height * n + s * length * x_axis + t * width * y_axis
        assert terrain.height(beside[:2]) < beside[2] - 0.5 * height


def test_a_box_needs_ground_below_it() -> None:
    field = Terrain([kd.contact.HeightField(np.zeros((3, 3)), 1.0, (-1.0, -1.0))])
    with pytest.raises(InputError, match=r"there must be ground below the box, got x=5.0, y=0.0"):
        field.with_box(5.0, 0.0, (0.1, 0.1, 0.1))
    for size in ((0.1, 0.1), (0.1, 0.1, 0.0), (0.1, 0.1, 0.1, 0.1)):
        with pytest.raises(InputError, match="size of the box"):
            field.with_box(0.0, 0.0, size)
