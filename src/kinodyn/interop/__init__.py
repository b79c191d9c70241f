"""Files and messages of other software: MoveIt's planning scenes and requests.

>>> import kinodyn as kd
>>> scene, request = kd.interop.moveit.read("scene.yaml", "request.yaml", robot)  # doctest: +SKIP
"""

from kinodyn.interop import moveit

__all__ = ["moveit"]


def __dir__() -> list[str]:
    return list(__all__)
