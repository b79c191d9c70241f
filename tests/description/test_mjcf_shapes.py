"""Height fields and meshes that are written in MJCF files, against MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.mjcf import parse_mjcf

from .mjcf_models import wrap

HEIGHT_FIELD = """<asset><hfield name="f" nrow="3" ncol="4" size="2 1 0.5 0.1"
    elevation="0 1 2 3  0 0 0 0  4 0 0 1"/></asset>"""


def cross2(a: Array, b: Array) -> Array:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def highest(triangles: Array, x: float, y: float) -> float:
    """Return the height of the uppermost of some triangles (n, 3, 3) above a point."""
    a, b, c = (triangles[:, k] for k in range(3))
    across = cross2((b - a), (c - a))
    flat = np.abs(across) > 1e-12
    p = np.array([x, y]) - a[flat, :2]
    u = cross2(p, (c - a)[flat]) / across[flat]
    v = cross2((b - a)[flat], p) / across[flat]
    inside = (u >= 0) & (v >= 0) & (u + v <= 1)
    return float((a[flat, 2] + u * (b - a)[flat, 2] + v * (c - a)[flat, 2])[inside].max())


def test_a_height_field_is_the_same_solid_as_in_mujoco():
    text = wrap('<geom type="hfield" hfield="f" pos="1 0 0" euler="0 0 90"/>', HEIGHT_FIELD)
    (shape,) = parse_mjcf(text).links[0].collisions
    assert (shape.kind, shape.size) == ("heightfield", (4.0, 2.0))
    vertices, faces = shape.triangles
    world = vertices @ shape.T_link_shape[:3, :3].T + shape.T_link_shape[:3, 3]
    data = mujoco.MjData(model := mujoco.MjModel.from_xml_string(text))
    mujoco.mj_forward(model, data)
    for x, y in np.random.default_rng(0).uniform(-0.9, 0.9, (50, 2)) * [1, 2] + [1, 0]:
        down = np.array([0.0, 0.0, -1.0])
        hit = mujoco.mj_ray(model, data, np.array([x, y, 3.0]), down, None, 1, -1, np.zeros(1, np.int32))
        assert abs(highest(world[faces], x, y) - (3.0 - hit)) < 1e-5
    assert abs(world[:, 2].min() + 0.1) < 1e-9


def test_an_inline_mesh_is_a_shape():
    corners = "0 0 0  1 0 0  0 2 0  0 0 3"
    text = wrap(
        '<body><joint/><geom type="mesh" mesh="m" pos="1 2 3" density="1"/></body>',
        f'<asset><mesh name="m" vertex="{corners}" face="0 2 1  0 1 3  0 3 2  1 2 3" scale="1 1 0.5"/></asset>',
    )
    (shape,) = parse_mjcf(text).links[1].collisions
    vertices, faces = shape.triangles
    placed = vertices @ shape.T_link_shape[:3, :3].T + shape.T_link_shape[:3, 3]
    expected = np.array(corners.split(), dtype=float).reshape(-1, 3) * [1, 1, 0.5] + [1, 2, 3]
    np.testing.assert_allclose(sorted(placed.round(5).tolist()), sorted(expected.tolist()), atol=1e-5)
    assert (shape.kind, shape.mesh, len(faces)) == ("mesh", None, 4)
