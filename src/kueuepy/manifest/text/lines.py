"""From a field back to the line where it is written."""

import re
from functools import lru_cache

from kueuepy.errors.problems import Path
from kueuepy.manifest.text.events import Events
from kueuepy.manifest.text.exact import Nodes
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.text import Text

_NO_LIMITS = Limits(depth=2**31, alias_nodes=2**31, alias_ratio=2**31, scalar_bytes=2**31)
_ESCAPE = re.compile(rb"\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)")


def line_of(text: Text, path: Path) -> int:
    """The line of a field, or of the innermost part of its path that is written.

    Raises:
        ManifestError: The text is not YAML.
    """
    return _read(text).line_of(path)


@lru_cache(maxsize=2)
def _read(text: Text) -> Nodes:
    """The text in which lines were looked up last; of JSON, with any character for those that YAML writes otherwise."""
    source = _ESCAPE.sub(_as_yaml, text.data).decode()
    nodes = Nodes(Events(text, source), _NO_LIMITS, strict=False, marking=True)
    nodes.value()
    return nodes


def _as_yaml(escape: re.Match[bytes]) -> bytes:
    """What stands for an escape of JSON that YAML does not have: any text of that length."""
    code = escape[1]
    return rb"\u0041" if len(code) > 1 else b"//" if code == b"/" else escape[0]
