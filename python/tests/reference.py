"""Writes docs/reference/python.md from the docstrings.

Run `python python/tests/reference.py > docs/reference/python.md`; a test compares.
"""

from __future__ import annotations

import inspect
import re
import sys
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import taskscout as ts
import taskscout.generator

HEAD = """# Python package

All that `import taskscout as ts` has. [Use taskscout from Python](../how-to/use-python.md) shows it at work. This page
is made from the docstrings by `python/tests/reference.py`, and the tests run its examples.

The package is typed (`py.typed`); the native module `taskscout._native` is not for users. Strategies, trainers, spaces
and features are those of the command: see [strategies](strategies.md), [trainers](trainers.md) and [spaces](spaces.md).
"""

SECTIONS = {
    "Studies": ["create_study", "load_study", "list_studies", "Study"],
    "Tasks, targets and columns": ["Box", "Ball", "Candidates", "Target", "Column"],
    "What a study hands out": [
        "Plan", "Item", "Receipt", "Batch", "Event", "Status", "Forecast", "ForecastPoint", "Interval",
    ],
    "Models": ["load_model", "Model"],
    "Logs": ["learn", "Learnt"],
    "Parts of your own": [
        "Features", "TaskSpace", "Strategy", "PlanContext", "Trainer", "TrainingData", "Representation", "Perceptron",
    ],
    "PyTorch": ["torch.Representation", "torch.Learnt"],
    "Designs": ["optimal_design", "Design", "PlannedTask"],
    "Experiments and sweeps": ["reproduce", "sweep", "Results", "Comparison"],
    "Figures": ["Figure"],
    "Statistics": ["Statistics"],
    "Estimators": ["SharedRepresentation", "PartialPooling"],
    "Gymnasium": ["gym.collect", "gym.Collector", "gym.Step"],
    "Generator of the gest-api": ["generator.StudyGenerator"],
    "Exceptions": ["TaskscoutError", "InputError", "OperationError"],
}  # fmt: skip

#: Classes that hold what others hand out, which need no example; nor do exceptions.
RECORDS = (
    "Item", "Receipt", "Batch", "Event", "Status", "ForecastPoint", "Interval", "PlannedTask", "Comparison",
    "PlanContext", "Learnt", "Representation", "torch.Learnt", "gym.Collector", "gym.Step", *SECTIONS["Exceptions"],
)  # fmt: skip

#: Classes that users make.
MADE = (
    "Box",
    "Ball",
    "Candidates",
    "Target",
    "Column",
    "Perceptron",
    "torch.Representation",
    "Statistics",
    "SharedRepresentation",
    "PartialPooling",
    "gym.Collector",
    "generator.StudyGenerator",
)

TAIL = """
## Notes

- The estimators need scikit-learn. All checks of its `check_estimator` that apply pass. One does not apply: input by
  the array API standard of other libraries is not tested, because the native half works on arrays of numpy.
- `ts.torch` needs PyTorch, and is imported where it is used.
- Long calls release the interpreter's lock, so other threads go on. Ctrl-C takes effect when the call returns.
- Arrays of float64 in C order are not copied by `Statistics.update`; others are converted first.
- A study with a storage can be pickled: it is opened again where it is unpickled. Models, statistics and estimators can
  be pickled too.
- Wheels are for Pythons with the interpreter's lock, from 3.11 on. On free-threaded Pythons the package was not tried.
- `Study.run` gives `collect` the seeds that the command's workers give to programs.
"""


def signature(thing: Any, name: str) -> str:
    """A call as one writes it, with types and defaults; long ones on several lines."""
    found = inspect.signature(thing)
    shown = []
    for parameter in found.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        text = f"{stars}{parameter.name}: {parameter.annotation}"
        if parameter.default is not parameter.empty:
            default = "{}" if "<factory>" in repr(parameter.default) else repr(parameter.default)
            text += f" = {default}"
        shown.append(text)
    back = "" if found.return_annotation in (None, "None", found.empty) else f" -> {found.return_annotation}"
    line = f"{name}({', '.join(shown)}){back}"
    if len(line) > 110 and name.startswith("ts."):
        line = f"{name}(\n" + "".join(f"    {part},\n" for part in shown) + f"){back}"
    return line.replace("_run.", "").replace("npt.", "")


def prose(thing: Any) -> str:
    """A docstring without its examples, and with lists where numpy's style has tables."""
    text = (inspect.getdoc(thing) or "").split(">>>")[0].removesuffix("Examples\n--------\n")
    text = re.sub(r"^(\w+)\n-+\n", r"\1:\n\n", text, flags=re.M)
    text = re.sub(r"^(\w+) : ([^\n]+)\n    (.+)$", r"- `\1` (\2): \3", text, flags=re.M)
    text = re.sub(r"^([\w, ]+_) : (.+)$", r"- `\1`: \2", text, flags=re.M)
    return text.strip()


def example(thing: Any) -> str:
    """The example of a docstring, which the tests run."""
    _, sign, text = (inspect.getdoc(thing) or "").partition(">>>")
    return f"\n\n```pycon\n{(sign + text).rstrip()}\n```" if sign else ""


def fields(kind: type) -> list[str]:
    """What a class holds, by the texts behind its fields."""
    source = inspect.getsource(kind)
    held = re.findall(r"^    (\w+): ([^\n=]+?)(?: = [^\n]+)?\n    \"\"\"(.*?)\"\"\"", source, re.M | re.S)
    held += re.findall(
        r"^        self\.(\w+)(?:: ([^\n=]+?))? = [^\n]+\n        \"\"\"(.*?)\"\"\"", source, re.M | re.S
    )
    return [f"- `{name}{': ' + kind if kind else ''}`: {text.strip()}" for name, kind, text in held]


def described(name: str) -> str:
    """One entry of the page."""
    thing: Any = ts
    for part in name.split("."):
        thing = getattr(thing, part)
    if not inspect.isclass(thing):
        return f"### {name}\n\n```text\n{signature(thing, 'ts.' + name)}\n```\n\n{prose(thing)}{example(thing)}\n"
    call = signature(thing.__init__, f"ts.{name}") if name in MADE else f"ts.{name}"
    parts = [f"### {name}\n\n```text\n{call}\n```\n\n{prose(thing)}"]
    lines = fields(thing)
    ours = [base for base in reversed(thing.__mro__) if base.__module__.startswith("taskscout")]
    members = {key: value for base in ours for key, value in vars(base).items()}
    for key, value in members.items():
        held = isinstance(value, property | cached_property)
        member = value.fget if isinstance(value, property) else value.func if held else value
        if (key.startswith("_") and key != "__call__") or not inspect.isfunction(member) or key == "settings":
            continue
        said = " ".join(prose(member).split())
        lines.append(f"- `{key if held else signature(member, key)}`: {said}")
    if lines:
        parts.append("\n".join(lines))
    if example(thing):
        parts.append(example(thing).strip())
    return "\n\n".join(parts) + "\n"


def written(section: str) -> str:
    """A section as the page has it, where what it describes is not installed."""
    there = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md").read_text()
    return there[there.index(f"## {section}\n") :].partition("\n## ")[0]


def page() -> str:
    """The whole page."""
    missing = set(ts.__all__) - {"__version__", "gym"} - {name for names in SECTIONS.values() for name in names}
    assert not missing, f"these have no section: {missing}"
    text = [HEAD]
    for section, names in SECTIONS.items():
        if section == "PyTorch" and find_spec("torch") is None:
            text.append(written(section))
            continue
        text.append(f"## {section}\n")
        text += [described(name) for name in names]
    return "\n".join(text).rstrip() + "\n" + TAIL


if __name__ == "__main__":
    sys.stdout.write(page())
