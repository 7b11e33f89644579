"""Search for the line of a field."""

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
    """Return the line of a field, or of its innermost parent in the text.

    Raises:
        ManifestError: The text is not YAML.
    """
    return _read(text).line_of(path)


@lru_cache(maxsize=2)
def _read(text: Text) -> Nodes:
    """Parse a text, and cache the result for further searches.

    In JSON, escape sequences that differ in YAML are replaced.
    """
    source = _ESCAPE.sub(_as_yaml, text.data).decode()
    nodes = Nodes(Events(text, source), _NO_LIMITS, strict=False, marking=True)
    nodes.value()
    return nodes


def _as_yaml(escape: re.Match[bytes]) -> bytes:
    """Return a replacement of the same length for a JSON escape sequence that YAML does not support."""
    code = escape[1]
    return rb"\u0041" if len(code) > 1 else b"//" if code == b"/" else escape[0]
