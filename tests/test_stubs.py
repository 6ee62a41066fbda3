"""``_core.pyi`` describes exactly what the built module has: every name, method and parameter."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import crivello
from crivello import _core

STUB = ast.parse((Path(crivello.__file__).parent / "_core.pyi").read_text())


def parameters_of(function: ast.FunctionDef) -> list[tuple[str, bool]]:
    """The names of a stub's parameters, and whether each has a default."""
    arguments = function.args
    positional = [argument.arg for argument in arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    found = [(name, name in with_default) for name in positional if name != "self"]
    found += [
        (argument.arg, default is not None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return found


def actual_parameters(function: Any) -> list[tuple[str, bool]]:
    return [
        (parameter.name, parameter.default is not parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]


def public(thing: Any) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("_")}


def test_the_module_has_the_names_of_the_stub() -> None:
    described = {node.name for node in STUB.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    described |= {
        node.target.id
        for node in STUB.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert described == public(_core)


def test_functions_have_the_parameters_of_the_stub() -> None:
    functions = [node for node in STUB.body if isinstance(node, ast.FunctionDef)]
    assert functions
    for function in functions:
        assert actual_parameters(getattr(_core, function.name)) == parameters_of(function), function.name


def test_classes_have_the_members_of_the_stub() -> None:
    classes = [node for node in STUB.body if isinstance(node, ast.ClassDef)]
    assert classes
    for described in classes:
        actual = getattr(_core, described.name)
        methods = {node.name: node for node in described.body if isinstance(node, ast.FunctionDef)}
        fields = {
            node.target.id
            for node in described.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        fields |= {
            name.id
            for node in described.body
            if isinstance(node, ast.Assign)
            for name in node.targets
            if isinstance(name, ast.Name)
        }
        assert {name for name in methods if not name.startswith("_")} | fields == public(actual), (
            described.name
        )
        for name, method in methods.items():
            member = inspect.getattr_static(actual, name if name != "__init__" else "__new__", None)
            assert member is not None, f"{described.name}.{name}"
            if name == "__init__":
                assert actual_parameters(actual) == parameters_of(method), described.name
            elif callable(getattr(actual, name)) and not name.startswith("__"):
                assert actual_parameters(getattr(actual, name)) == parameters_of(method), (
                    f"{described.name}.{name}"
                )
