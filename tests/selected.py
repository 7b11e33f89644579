"""The device that tests of selectors use, and a short form of expressions about it."""

import json

GPU = "gpu.example.com"
SUBJECT = json.dumps(
    {
        "driver": GPU,
        "attributes": {GPU: {"fw": {"version": "1.2.3"}, "model": "a100", "n": 4, "ok": True}},
        "capacity": {GPU: {"memory": "40Gi"}},
    }
)


def written(expression):
    """The expression with the full names of attributes `@name` and of the capacity `memory`."""
    attributes, capacity = (f'device.{field}["{GPU}"]' for field in ("attributes", "capacity"))
    return expression.replace("@", f"{attributes}.").replace("#", f"{capacity}.")
