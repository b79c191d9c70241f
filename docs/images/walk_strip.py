"""Render a strip of images of the walking humanoid with MuJoCo: python docs/images/walk_strip.py.

Images of two steps of a simulated walk side by side, from one lift-off of the left foot to the next.
"""

import os
import sys
from pathlib import Path
from typing import Any

if sys.platform.startswith("linux"):
    os.environ.setdefault("MUJOCO_GL", "egl")  # before MuJoCo is imported

import mujoco as mj
import numpy as np
from PIL import Image

import kinodyn as kd
from kinodyn.sim.mujoco_model import compiled, spec_of
from kinodyn.sim.mujoco_settings import MujocoSettings

HEIGHT, WIDTH, SUPERSAMPLING = 370, 196, 3  # of one panel [pixels]; rendered larger for smooth edges
PHASES, GAP = 6, 4  # panels, and the gap between them [pixels]
SKY = np.array([1.0, 1.0, 1.0])
COLOURS = {"left": (0.23, 0.49, 0.77), "right": (0.93, 0.55, 0.22), "": (0.62, 0.66, 0.72)}

BONE = np.array([0.35, 0.38, 0.42, 1.0], dtype=np.float32)


def stage(robot: kd.Robot) -> Any:
    """Build the model with lights, a light floor, a white sky, and limbs coloured by side."""
    spec = spec_of(robot, MujocoSettings())
    spec.add_texture(
        name="sky", type=mj.mjtTexture.mjTEXTURE_SKYBOX, builtin=mj.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=SKY, rgb2=SKY, width=64, height=64,
    )  # fmt: skip
    spec.add_texture(
        name="floor", type=mj.mjtTexture.mjTEXTURE_2D, builtin=mj.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.86, 0.885, 0.92], rgb2=[0.93, 0.945, 0.965], width=256, height=256,
    )  # fmt: skip
    spec.add_material(name="floor", texrepeat=[4, 4], texuniform=True, reflectance=0.0).textures[
        mj.mjtTextureRole.mjTEXROLE_RGB
    ] = "floor"
    spec.worldbody.add_light(
        pos=[0.0, 0.0, 6.0], dir=[0.1, 0.15, -1.0], diffuse=[0.35] * 3, specular=[0.1] * 3, castshadow=True,
        type=mj.mjtLightType.mjLIGHT_DIRECTIONAL,
    )  # fmt: skip
    for geom in spec.geoms:
        if geom.type == mj.mjtGeom.mjGEOM_PLANE:
            geom.material = "floor"
    model = compiled(robot, spec)
    model.vis.headlight.ambient[:], model.vis.headlight.diffuse[:] = 0.5, 0.4
    model.vis.headlight.specular[:] = 0.1
    model.vis.quality.shadowsize = 8192
    model.vis.rgba.fog[:], model.vis.rgba.haze[:] = 1.0, 1.0  # the floor fades to white
    model.vis.map.fogstart, model.vis.map.fogend = 3.0 / model.stat.extent, 6.0 / model.stat.extent
    for geom in range(model.ngeom):
        if model.geom_type[geom] != mj.mjtGeom.mjGEOM_PLANE:
            name = model.body(model.geom_bodyid[geom]).name
            side = next((side for side in ("left", "right") if name.startswith(side)), "")
            model.geom_rgba[geom] = (*COLOURS[side], 1.0)
    return model


def bones(scene: Any, model: Any, data: Any) -> None:
    """Add capsules between neighbouring joints, where the shapes of the description leave gaps."""
    rods = [(data.xpos[model.body_parentid[body]], data.xpos[body]) for body in range(2, model.nbody)]
    head = model.body("head")
    rods.append((data.xpos[head.id], data.geom_xpos[head.geomadr[0]]))
    for ends in rods:
        if np.linalg.norm(ends[1] - ends[0]) > 1e-3:
            geom = scene.geoms[scene.ngeom]
            mj.mjv_initGeom(geom, mj.mjtGeom.mjGEOM_CAPSULE, np.ones(3), np.zeros(3), np.eye(3).ravel(), BONE)
            mj.mjv_connector(geom, mj.mjtGeom.mjGEOM_CAPSULE, 0.026, *ends)
            scene.ngeom += 1


def rows_of_two_steps(result: kd.walking.WalkResult) -> np.ndarray:
    """Return rows of the recording, evenly over two steps in mid-walk, from one lift-off of a foot to the next."""
    stance = np.asarray(result.recording.signals["stance"])[:, 0] > 0
    lift_offs = np.flatnonzero(np.diff(stance.astype(int)) < 0)
    begin, end = lift_offs[len(lift_offs) // 2 - 1], lift_offs[len(lift_offs) // 2]
    return np.linspace(begin, end, PHASES, endpoint=False).astype(int)


def panels(robot: kd.Robot, q: Any) -> list[np.ndarray]:
    """Render each configuration from the front right; the camera moves along."""
    model = stage(robot)
    model.vis.global_.offwidth, model.vis.global_.offheight = SUPERSAMPLING * WIDTH, SUPERSAMPLING * HEIGHT
    data, camera, converter = mj.MjData(model), mj.MjvCamera(), kd.convert.mujoco(robot, model)
    camera.azimuth, camera.elevation, camera.distance = -122.0, -12.0, 2.75
    drawn = []
    with mj.Renderer(model, SUPERSAMPLING * HEIGHT, SUPERSAMPLING * WIDTH) as renderer:
        for row in q:
            data.qpos[:] = converter.q_to(row)
            mj.mj_forward(model, data)
            camera.lookat[:] = [data.qpos[0], 0.0, 0.81]
            renderer.update_scene(data, camera)
            renderer.scene.flags[mj.mjtRndFlag.mjRND_FOG] = True
            bones(renderer.scene, model, data)
            drawn.append(renderer.render().copy())
    return drawn


def main() -> None:
    """Simulate a walk, render images and put them side by side."""
    robot = kd.load("humanoid")
    result = kd.walking.walk(robot, (0.4, 0.0, 0.0), duration=7.0)
    if not result.walked:
        raise SystemExit(result.reason)
    strip = Image.new("RGB", (PHASES * (WIDTH + GAP) - GAP, HEIGHT), "white")
    for k, picture in enumerate(panels(robot, result.recording.q[rows_of_two_steps(result)])):
        small = Image.fromarray(picture).resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        strip.paste(small, (k * (WIDTH + GAP), 0))
    file = Path(__file__).with_suffix(".png")
    strip.quantize(255, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}: {strip.width} x {strip.height}, {file.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
