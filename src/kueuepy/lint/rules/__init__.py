"""The rules, in the order of their ids: those of every file of this folder."""

from importlib import import_module
from pkgutil import iter_modules

from kueuepy.lint.rule import Rule

_FILES = [import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__)]
_FOUND = [found for file in _FILES for found in vars(file).values() if isinstance(found, Rule)]
RULES: tuple[Rule, ...] = tuple(sorted(_FOUND, key=lambda rule: int(rule.id[1:])))
"""All rules, ordered by id from L1 on. Ids never change; a new rule gets the next id."""
