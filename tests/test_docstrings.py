"""Every public name says what it takes, and shows how it is used by an example that runs."""

from __future__ import annotations

import inspect
import re

import pytest

import pcnet

#: Names that do not do so yet. This list only ever becomes shorter.
LACKING = {
    "Inspection",
    "NodeClassifier",
    "Outcome",
    "Run",
    "Split",
    "Targets",
    "TrainingSettings",
    "apply_polynomial",
    "csbm",
    "graph_from_networkx",
    "graph_from_pandas",
    "graph_from_pyg",
    "graph_from_scipy",
    "make_split",
    "read_graph",
    "train",
}


def classes(thing: object) -> list[type]:
    """A class and those of the package that it inherits from."""
    return (
        [each for each in inspect.getmro(thing) if each.__module__.startswith("pcnet")]
        if inspect.isclass(thing)
        else []
    )


def parameters(thing: object) -> list[str]:
    if inspect.isclass(thing) and issubclass(thing, (Exception, Warning)):
        return []
    named = inspect.signature(thing).parameters.values()
    return [each.name for each in named if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def described(name: str, thing: object) -> bool:
    """In the docstring, or as a field of a dataclass in the comment above it."""
    texts = [inspect.getdoc(each) or "" for each in (thing, *classes(thing))]
    field = re.compile(rf"#: [^\n]+\n\s+{name}: ")
    return any(re.search(rf"\b{name}\b", text) for text in texts) or any(
        field.search(inspect.getsource(each)) for each in classes(thing)
    )


def lacks(name: str) -> list[str]:
    """What is missing from the docstring of a public name."""
    thing = getattr(pcnet, name)
    missing = [] if ">>> " in (inspect.getdoc(thing) or "") else ["an example"]
    return missing + [parameter for parameter in parameters(thing) if not described(parameter, thing)]


@pytest.mark.parametrize("name", pcnet.__all__)
def test_public_names_are_described_with_an_example(name):
    assert name in LACKING or lacks(name) == []


def test_the_list_of_what_is_lacking_has_no_strangers():
    assert set(pcnet.__all__) >= LACKING
