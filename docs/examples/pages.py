"""Write the pages of the examples from the scripts themselves; docs/conf.py does so at every build."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SCRIPTS = HERE.parent.parent / "examples"
PICTURES = HERE.parent / "images" / "examples"
OUTPUTS = HERE / "output"

# In the order in which one would read them: number of the script, and the page that explains what it uses.
CHAPTERS = {
    "First steps": {1: "robots", 2: "kinematics", 3: "kinematics", 4: "dynamics", 5: "dynamics"},
    "Arms: where they reach, and how they get there": {
        27: "robots",
        10: "kinematics",
        6: "inverse_kinematics",
        7: "inverse_kinematics",
        8: "inverse_kinematics",
    },
    "Equations of motion": {11: "derivations", 12: "identification", 13: "contacts", 14: "contacts"},
    "Trajectories and control": {15: "trajectories", 18: "control", 19: "control", 20: "control"},
    "Simulation": {16: "simulation", 17: "simulation"},
    "Humanoids: reach, balance, walk": {
        9: "inverse_kinematics",
        21: "walking",
        22: "walking",
        23: "walking",
        24: "walking",
    },
    "To see and to speed up": {25: "viewer", 26: "architecture"},
}

INDEX = """# Examples

Numbered scripts in the folder `examples/`, each under 120 lines. All run without a screen, within seconds, from any
folder; `--plot FILE` draws the picture. The tests run them all.

```console
$ python examples/24_push_recovery.py --plot push.png
```

"""


class Example(NamedTuple):
    """One script: its number, name (the file's, without ending), title, and text in Markdown after the title."""

    number: int
    name: str
    title: str
    text: str

    @classmethod
    def read(cls, script: Path) -> Example:
        """Take title and text from the docstring: what stands before its first colon is the title."""
        text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
        if text is None:
            raise ValueError(f"{script.name} has no docstring: its page has no title")
        first, _, more = text.partition("\n\n")
        title, _, summary = first.replace("\n", " ").partition(":")
        summary = summary.strip() or title
        text = f"{summary[0].upper()}{summary[1:]}\n\n{more}".strip()
        return cls(int(script.name[:2]), script.stem, title.rstrip("."), _markdown(text))

    def card(self) -> str:
        """Write picture, title and first paragraph for the gallery."""
        link, summary = f"{self.name}.md", self.text.partition("\n\n")[0]
        return (
            "::::{container} card\n"
            f"[![{self.title}](../images/examples/{self.name}.png)]({link})\n\n"
            f"**[{self.number}. {self.title}]({link})**\n\n"
            f"{summary}\n::::\n"
        )

    def page(self, explained: str) -> str:
        """Write the page: text, picture, what the script prints, the script."""
        return (
            f"# {self.number}. {self.title}\n\n{self.text}\n\n"
            f"![{self.title}](../images/examples/{self.name}.png)\n\n"
            f"```console\n$ python examples/{self.name}.py --plot picture.png\n```\n\n"
            f"Explained in [](../{explained}.md).\n\n"
            f"## What it prints\n\n```{{literalinclude}} output/{self.name}.txt\n:language: text\n```\n\n"
            "Picture and output were kept by `python docs/examples/make.py`; times depend on the machine.\n\n"
            f"## The script\n\n```{{literalinclude}} ../../examples/{self.name}.py\n:language: python\n```\n"
        )


def _markdown(text: str) -> str:
    """Keep plain text plain: options become code, other marks of Markdown lose their meaning."""
    parts = re.split(r"(--\w+(?: FILE)?)", text)
    return "".join(f"`{part}`" if part.startswith("--") else re.sub(r"([*_`<>\[\]])", r"\\\1", part) for part in parts)


def examples() -> list[Example]:
    """Read all scripts, in the order of their numbers."""
    return [Example.read(script) for script in sorted(SCRIPTS.glob("[0-9]*.py"))]


def write(folder: Path = HERE) -> list[Path]:
    """Write the gallery and a page for each example; pages that are as they should be stay untouched."""
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
