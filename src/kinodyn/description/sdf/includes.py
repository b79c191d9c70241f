"""Models of a document: those that it contains, and those of other files that it includes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kinodyn.description.packages import PackageFinder
from kinodyn.description.sdf import values
from kinodyn.description.sdf.values import Pose
from kinodyn.description.xml_tree import Node, read_xml
from kinodyn.errors import DescriptionError

MAX_INCLUDES = 1000  # of a document: files may include each other in a cycle or many times over
MAX_NESTING = 32
CONFIG = "model.config"


@dataclass(frozen=True, eq=False)
class Model:
    """A `<model>` where it is used: an included one may have another name, pose and placement frame there.

    Attributes
    ----------
    node : Node
    name : str
    pose : Pose
        Of the placement frame.
    placement : str
        Name of the frame in the model that the pose places, empty for that of the model.
    static : bool
    version : (int, int)
        Of the document that contains it.
    """

    node: Node
    name: str
    pose: Pose
    placement: str
    static: bool
    version: tuple[int, int]


class Includer:
    """Finds the models of an element, and reads each included file once."""

    def __init__(self, finder: PackageFinder) -> None:
        self._finder, self._count = finder, 0
        self._documents: dict[Path, Node] = {}

    def models(self, node: Node, version: tuple[int, int], depth: int = 0) -> list[Model]:
        """Return the models directly in an element, in the order of the document."""
        if depth > MAX_NESTING:
            raise node.error(f"models must be nested at most {MAX_NESTING} deep; do they include each other?")
        found = []
        for child in node.children:
            if child.tag == "model":
                found.append(_model(child, version))
            elif child.tag == "include":
                found.append(self._included(child))
        return found

    def _included(self, include: Node) -> Model:
        self._count += 1
        if self._count > MAX_INCLUDES:
            raise include.error(f"a document may include {MAX_INCLUDES} models; do files include each other?")
        if values.boolean(include, include.attributes.get("merge", "false")):
            raise include.error("merge is not supported; include it as a nested model")
        file = self._find(include)
        if file not in self._documents:
            self._documents[file] = read_xml(file)
        root = self._documents[file]
        if root.tag != "sdf":
            raise include.error(f"must be an SDF file, got <{root.tag}> in {file}")
        models = list(root.all("model"))
        if len(models) != 1:
            raise include.error(f"must be a file with one model, got {len(models)} in {file}")
        return _overridden(_model(models[0], values.version(root)), include)

    def _find(self, include: Node) -> Path:
        uri = values.text(include, "uri")
        scheme, separator, rest = uri.partition("://")
        folder: Path | None
        if separator and scheme in ("model", "package"):
            name, _, below = rest.strip("/").partition("/")
            package = self._finder.package(name)
            folder = None if package is None else package / below
        elif separator and scheme != "file":
            raise include.error(f"uri must start with model://, package:// or file://, or be a path, got {uri!r:.80}")
        else:
            here = include.file.parent if include.file is not None else Path()
            folder = here / (rest if separator else uri)
        if folder is None or not folder.exists():
            raise include.error(f"{uri!r:.80} is not found; pass the folder of the models in packages=[...]")
        file = _model_file(folder, include) if folder.is_dir() else folder
        if not self._finder.may_read(file, uri):
            remedy = "pass its folder in packages=[...] or allow_outside=True"
            raise include.error(f"{uri!r:.80} is outside of the folders of the robot; {remedy}")
        return file


def _model(node: Node, version: tuple[int, int]) -> Model:
    placement = node.attributes.get("placement_frame", "")
    return Model(node, node.word("name"), values.pose(node), placement, values.flag(node, "static"), version)


def _overridden(model: Model, include: Node) -> Model:
    """Apply name, pose, placement frame and static of an `<include>`."""
    name = values.text(include, "name") if include.child("name") else model.name
    placement = values.text(include, "placement_frame") if include.child("placement_frame") else model.placement
    pose = values.pose(include) if include.child("pose") else model.pose
    return Model(model.node, name, pose, placement, values.flag(include, "static", model.static), model.version)


def _model_file(folder: Path, include: Node) -> Path:
    """Return the file that `model.config` names with the highest version, or model.sdf."""
    config = folder / CONFIG
    if not config.is_file():
        if (folder / "model.sdf").is_file():
            return folder / "model.sdf"
        raise include.error(f"{folder} must have {CONFIG} or model.sdf")
    listed = [(node.attributes.get("version", ""), node.text.strip()) for node in read_xml(config).all("sdf")]
    files = [(_order(written), folder / name) for written, name in listed if name]
    inside = [(order, file) for order, file in files if _is_inside(file, folder) and file.is_file()]
    if not inside:
        raise DescriptionError("names no SDF file that is in its folder", file=config)
    return max(inside)[1]


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _is_inside(file: Path, folder: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())
