"""The documentation does what it says."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ENVIRONMENT, ROOT
from reference import RECORDS, SECTIONS, example, page, prose

import taskscout as ts


@pytest.mark.parametrize("name", ["README.md", "docs/how-to/use-python.md"])
def test_the_lines_of_the_pages_run(name: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.M | re.S)
    if not blocks:
        pytest.skip("no Python on this page")
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    for _ in range(2):
        # A second run goes on where the first one was.
        done = subprocess.run(
            [sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=300, env=ENVIRONMENT
        )
        assert done.returncode == 0, done.stderr


def test_the_example_runs_twice(tmp_path: Path) -> None:
    line = [sys.executable, str(ROOT / "python" / "examples" / "wind_tunnel.py"), str(tmp_path)]
    first, second = (
        subprocess.run(line, capture_output=True, text=True, timeout=300, check=True, env=ENVIRONMENT).stdout
        for _ in range(2)
    )
    drag, lift = re.findall(r"(\d\.\d+) N[, ]", first.splitlines()[-1])[:2]
    assert float(drag) < 0.15
    assert float(lift) < 0.15
    # Nothing was measured the second time.
    assert second.splitlines()[-1] == first.splitlines()[-1]
    assert (tmp_path / "tomorrow.safetensors").exists()


def test_the_example_of_gymnasium_runs() -> None:
    pytest.importorskip("gymnasium")
    line = [sys.executable, str(ROOT / "python" / "examples" / "gym_environments.py"), "pendulum", "1"]
    said = subprocess.run(line, capture_output=True, text=True, timeout=300, check=True, env=ENVIRONMENT).stdout
    alone, passive, aware = (float(value) for value in said.splitlines()[1].split()[1:4])
    # Source rows help, whichever they are.
    assert max(passive, aware) < alone


def test_the_reference_is_that_of_the_docstrings() -> None:
    written = (ROOT / "docs" / "reference" / "python.md").read_text()
    assert written == page(), "run `python python/tests/reference.py > docs/reference/python.md`"


def test_what_is_public_says_what_it_is_and_shows_how() -> None:
    names = [name for section, names in SECTIONS.items() if section != "PyTorch" for name in names]
    for name in names:
        thing: Any = ts
        for part in name.split("."):
            thing = getattr(thing, part)
        assert prose(thing), f"{name} has no docstring"
        # Doctests run them.
        assert name in RECORDS or example(thing), f"{name} has no example"
        for key, member in vars(thing).items() if inspect.isclass(thing) else ():
            if inspect.isfunction(member) and not key.startswith("_"):
                assert prose(member), f"{name}.{key} has no docstring"
