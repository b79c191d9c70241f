"""Geoms of a compiled MuJoCo model as visual and collision shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import mujoco
import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.height_fields import field_mesh
from kinodyn.description.meshes import Faces
from kinodyn.description.mjcf.poses import pose, rotation, translation
from kinodyn.description.types import Shape, ShapeKind

_G = mujoco.mjtGeom
# Groups that MuJoCo's viewer shows by default.
_SHOWN_GROUPS = (0, 1, 2)
_GREY = np.array([0.5, 0.5, 0.5, 1.0], dtype=np.float32)

Shapes = tuple[tuple[Shape, ...], tuple[Shape, ...]]
_Meshes = Mapping[int, mujoco.MjsMesh]


def shapes_by_body(spec: mujoco.MjSpec, model: mujoco.MjModel) -> list[Shapes]:
    """Create the (visual, collision) shapes of each body, by body id, the world included.

    A geom collides if its contype or conaffinity is not zero or a contact pair names it. It is visible if it does not
    collide, or if it is in a group that MuJoCo shows by default (0, 1, 2). So a geom may be both.
    """
    meshes = {mesh.id: mesh for mesh in spec.meshes}
    paired = {int(g) for g in model.pair_geom1} | {int(g) for g in model.pair_geom2}
    visuals: list[list[Shape]] = [[] for _ in range(model.nbody)]
    collisions: list[list[Shape]] = [[] for _ in range(model.nbody)]
    for geom in range(model.ngeom):
        if _why_unsupported(meshes, model, geom):
            continue
        shape, body = _shape(meshes, model, geom), int(model.geom_bodyid[geom])
        collides = bool(model.geom_contype[geom] or model.geom_conaffinity[geom] or geom in paired)
        if collides:
            collisions[body].append(shape)
        if not collides or model.geom_group[geom] in _SHOWN_GROUPS:
            visuals[body].append(shape)
    return [(tuple(v), tuple(c)) for v, c in zip(visuals, collisions, strict=True)]


def unsupported_geoms(spec: mujoco.MjSpec, model: mujoco.MjModel) -> Iterator[str]:
    """Yield one sentence for each geom that cannot become a shape."""
    meshes = {mesh.id: mesh for mesh in spec.meshes}
    for geom in range(model.ngeom):
        reason = _why_unsupported(meshes, model, geom)
        if reason:
            yield f"geom {_name(model, geom) or geom!r} is ignored: {reason}"


def _why_unsupported(meshes: _Meshes, model: mujoco.MjModel, geom: int) -> str:
    """Return why the geom cannot be a shape, "" if it can."""
    kind = model.geom_type[geom]
    if kind == _G.mjGEOM_SDF:
        return "there is no shape for signed distance fields"
    if kind == _G.mjGEOM_MESH and _path(model, int(model.geom_dataid[geom])) is not None:
        written = meshes[int(model.geom_dataid[geom])]
        if np.ptp(written.scale) > 0 and _is_rotated(written):
            return "its mesh is both rotated by refquat and scaled unevenly"
    return ""


def _shape(meshes: _Meshes, model: mujoco.MjModel, geom: int) -> Shape:
    name = _name(model, geom)
    T_link_geom = pose(model.geom_pos[geom], model.geom_quat[geom])
    rgba = _colour(model, geom)
    a, b, c = (float(s) for s in model.geom_size[geom])
    kind = model.geom_type[geom]
    # MuJoCo has half lengths, a Shape full ones.
    if kind == _G.mjGEOM_BOX:
        return Shape("box", (2 * a, 2 * b, 2 * c), T_link_geom, name, rgba=rgba)
    if kind == _G.mjGEOM_SPHERE:
        return Shape("sphere", (a,), T_link_geom, name, rgba=rgba)
    if kind == _G.mjGEOM_CAPSULE:
        return Shape("capsule", (a, 2 * b), T_link_geom, name, rgba=rgba)
    if kind == _G.mjGEOM_CYLINDER:
        return Shape("cylinder", (a, 2 * b), T_link_geom, name, rgba=rgba)
    if kind == _G.mjGEOM_ELLIPSOID:
        return Shape("ellipsoid", (a, b, c), T_link_geom, name, rgba=rgba)
    if kind == _G.mjGEOM_PLANE:
        return Shape("plane", (a, b), T_link_geom, name, rgba=rgba)
    if kind == _G.mjGEOM_HFIELD:
        return _height_field(model, geom)
    if _path(model, int(model.geom_dataid[geom])) is None:
        return _inline_mesh(model, geom)
    return _mesh(meshes, model, geom)


def _height_field(model: mujoco.MjModel, geom: int) -> Shape:
    """Return the solid between the heights of a field, rows of which are along x, and its base."""
    field = int(model.geom_dataid[geom])
    x, y, elevation, base = (float(s) for s in model.hfield_size[field])
    rows, columns, start = (int(table[field]) for table in (model.hfield_nrow, model.hfield_ncol, model.hfield_adr))
    heights = elevation * model.hfield_data[start : start + rows * columns].reshape(rows, columns).T.astype(float)
    mesh = field_mesh(heights, np.array([2 * x, 2 * y]), -base)
    return _with_triangles("heightfield", (2 * x, 2 * y), model, geom, (mesh.vertices, mesh.faces))


def _inline_mesh(model: mujoco.MjModel, geom: int) -> Shape:
    """Return a mesh whose vertices are in the MJCF itself, as MuJoCo has placed and scaled them."""
    mesh = int(model.geom_dataid[geom])
    vertices, faces = (
        table[int(starts[mesh]) :][: int(counts[mesh])]
        for table, starts, counts in (
            (model.mesh_vert, model.mesh_vertadr, model.mesh_vertnum),
            (model.mesh_face, model.mesh_faceadr, model.mesh_facenum),
        )
    )
    return _with_triangles("mesh", (1.0, 1.0, 1.0), model, geom, (vertices.astype(float), faces.astype(np.int64)))


def _with_triangles(
    kind: ShapeKind, size: tuple[float, ...], model: mujoco.MjModel, geom: int, triangles: tuple[Array, Faces]
) -> Shape:
    T_link_geom = pose(model.geom_pos[geom], model.geom_quat[geom])
    return Shape(kind, size, T_link_geom, _name(model, geom), rgba=_colour(model, geom), triangles=triangles)


def _mesh(meshes: _Meshes, model: mujoco.MjModel, geom: int) -> Shape:
    """Place the mesh as in its file; MuJoCo itself moves every mesh to its centre of mass and principal axes."""
    mesh = int(model.geom_dataid[geom])
    written = meshes[mesh]
    T_link_geom = pose(model.geom_pos[geom], model.geom_quat[geom])
    T_asset_geom = pose(model.mesh_pos[mesh], model.mesh_quat[mesh])
    return Shape(
        "mesh",
        tuple(float(s) for s in written.scale),
        T_link_geom @ np.linalg.inv(T_asset_geom) @ _T_asset_file(written),
        _name(model, geom),
        mesh=_path(model, mesh),
        uri=written.file,
        rgba=_colour(model, geom),
    )


def _T_asset_file(written: mujoco.MjsMesh) -> Array:
    """Return the pose of the scaled file in the asset: MuJoCo maps a vertex x to S R^T (x - p), a `Shape` to T S x.

    So T = (R^T, -S R^T p), which exists if S and R^T commute: no rotation, or a uniform scale.
    """
    R_asset_file = rotation(written.refquat).T
    T_asset_file = translation(-np.array(written.scale) * (R_asset_file @ written.refpos))
    T_asset_file[:3, :3] = R_asset_file
    return T_asset_file


def _is_rotated(written: mujoco.MjsMesh) -> bool:
    return not np.allclose(rotation(written.refquat), np.eye(3), atol=1e-12)


def _name(model: mujoco.MjModel, geom: int) -> str:
    return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) or ""


def _path(model: mujoco.MjModel, mesh: int) -> Path | None:
    """Return the path of the mesh, None for one that is defined in the MJCF itself."""
    start = int(model.mesh_pathadr[mesh])
    if start < 0:
        return None
    return Path(model.paths[start : model.paths.index(b"\0", start)].decode())


def _colour(model: mujoco.MjModel, geom: int) -> tuple[float, float, float, float]:
    """Return the geom's colour; its material's where the geom has the default grey, as MuJoCo's renderer does."""
    material, rgba = int(model.geom_matid[geom]), model.geom_rgba[geom]
    if material >= 0 and np.array_equal(rgba, _GREY):
        rgba = model.mat_rgba[material]
    red, green, blue, alpha = (float(c) for c in rgba)
    return (red, green, blue, alpha)
