"""All rules of a domain are documented and used."""

import inspect

from leaps.compiled import kernels, rules
from leaps.compiled.engine import NAMES


def test_every_rule_is_documented_and_used() -> None:
    for name in NAMES:
        rule = getattr(rules, name)
        if callable(rule):
            assert inspect.getdoc(rule), name
        if name != "layout_of":  # which the engine calls
            assert name in inspect.getsource(kernels).split("def code_of")[1], name
