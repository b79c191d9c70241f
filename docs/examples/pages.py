"""Write the pages of the examples from the scripts; docs/conf.py does so at every build."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SCRIPTS = HERE.parent.parent / "examples"
PICTURES = HERE.parent / "images" / "examples"
OUTPUTS = HERE / "output"

# In reading order: number of the script, and the page that explains what it uses.
CHAPTERS = {
    "First steps": {1: "robots", 2: "kinematics", 3: "kinematics", 4: "dynamics", 5: "dynamics"},
    "Arms: workspace and inverse kinematics": {
        27: "robots",
        10: "kinematics",
        6: "inverse_kinematics",
        7: "inverse_kinematics",
        8: "inverse_kinematics",
    },
    "Equations of motion": {11: "derivations", 12: "identification", 13: "contacts", 14: "contacts"},
    "Trajectories and control": {15: "trajectories", 18: "control", 19: "control", 20: "control"},
    "Collision and planning": {28: "planning", 29: "planning", 31: "planning"},
    "ROS 2 and MoveIt": {32: "ros", 33: "ros"},
    "Simulation": {16: "simulation", 17: "simulation"},
    "Humanoids: reaching, balance, walking": {
        9: "inverse_kinematics",
        30: "planning",
        21: "walking",
        22: "walking",
        23: "walking",
        24: "walking",
    },
    "PyTorch and JAX": {34: "pytorch_jax", 35: "pytorch_jax", 36: "pytorch_jax"},
    "Viewer and performance": {25: "viewer", 26: "architecture"},
}

INDEX = """# Examples

Numbered scripts in the folder `examples/`, each shorter than 120 lines. All run headless, within seconds, from any
folder; `--plot FILE` writes the figure. The tests run all of them.

```console
$ python examples/24_push_recovery.py --plot push.png
```

"""


class Example(NamedTuple):
    """One script: number, name (file name without suffix), title, and text in Markdown."""

    number: int
    name: str
    title: str
    text: str

    @classmethod
    def read(cls, script: Path) -> Example:
        """Read title and text from the docstring: the title ends at the first colon."""
        text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
        if text is None:
            raise ValueError(f"{script.name} has no docstring: its page has no title")
        first, _, more = text.partition("\n\n")
        title, _, summary = first.replace("\n", " ").partition(":")
        summary = summary.strip() or title
        text = f"{summary[0].upper()}{summary[1:]}\n\n{more}".strip()
        return cls(int(script.name[:2]), script.stem, title.rstrip("."), _markdown(text))

    def card(self) -> str:
        """Return figure, title and first paragraph for the gallery."""
        link, summary = f"{self.name}.md", self.text.partition("\n\n")[0]
        return (
            "::::{container} card\n"
            f"[![{self.title}](../images/examples/{self.name}.png)]({link})\n\n"
            f"**[{self.number}. {self.title}]({link})**\n\n"
            f"{summary}\n::::\n"
        )

    def page(self, explained: str) -> str:
        """Return the page: text, figure, output, script."""
        return (
            f"# {self.number}. {self.title}\n\n{self.text}\n\n"
            f"![{self.title}](../images/examples/{self.name}.png)\n\n"
            f"```console\n$ python examples/{self.name}.py --plot figure.png\n```\n\n"
            f"Explained in [](../{explained}.md).\n\n"
            f"## Output\n\n```{{literalinclude}} output/{self.name}.txt\n:language: text\n```\n\n"
            "Figure and output were recorded by `python docs/examples/make.py`; times depend on the machine.\n\n"
            f"## Script\n\n```{{literalinclude}} ../../examples/{self.name}.py\n:language: python\n```\n"
        )


def _markdown(text: str) -> str:
    """Convert plain text to Markdown: options become code, special characters are escaped."""
    parts = re.split(r"(--\w+(?: FILE)?)", text)
    return "".join(f"`{part}`" if part.startswith("--") else re.sub(r"([*_`<>\[\]])", r"\\\1", part) for part in parts)


def examples() -> list[Example]:
    """Read all scripts in the order of their numbers."""
    return [Example.read(script) for script in sorted(SCRIPTS.glob("[0-9]*.py"))]


def write(folder: Path = HERE) -> list[Path]:
    """Write the gallery and a page for each example; unchanged pages are not touched."""
    known = {example.number: example for example in examples()}
    index, order, pages = [INDEX], [], {}
    for chapter, numbers in CHAPTERS.items():
        here = [(known[number], explained) for number, explained in numbers.items() if number in known]
        index += [f"## {chapter}\n\n:::::{{container}} gallery\n", *(one.card() for one, _ in here), ":::::\n\n"]
        order += [one.name for one, _ in here]
        pages |= {f"{one.name}.md": one.page(explained) for one, explained in here}
    index.append("```{toctree}\n:hidden:\n" + "\n".join(order) + "\n```\n")
    pages["index.md"] = "".join(index)
    for old in folder.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text:
            (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in pages]
