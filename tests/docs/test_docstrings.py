"""Examples in docstrings run and print what they show."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import kueuepy

MODULES = ["kueuepy"] + [
    module.name
    for module in pkgutil.walk_packages(kueuepy.__path__, "kueuepy.")
    if not module.name.endswith(("__main__", "._core"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = import_module(name)
    told = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    for found in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(found, out=told.append)

    assert "".join(told) == ""
