"""The fast way from YAML text to Python values, for texts without anything odd in them.

rapidyaml writes its tree as JSON, and msgspec reads that. The JSON is right wherever YAML 1.2 and Kubernetes' YAML 1.1
agree and nothing needs following. Whatever else there may be sends the text the exact way of `yamltree`; where this one
answers the two agree, and the tests hold it to that.
"""

import re
from typing import Any

import msgspec
import ryml  # type: ignore[import-untyped]

from kueuepy.manifest.scalars import number
from kueuepy.manifest.text import Text

_ODD = re.compile(
    rb"""
    "(?=[-+.0-9yYnNoOtTfF~iI*@%`<"\x01-\x06])(?<!\\")(?:
      [yYnN] | [yY]es | YES | [nN]o | NO | [oO]n | ON | [oO]ff | OFF
    | T(?:rue|RUE) | F(?:alse|ALSE) | ~ | N(?:ull|ULL)
    | [-+]?\.?(?:[iI]nf|INF|[nN]a[nN]|NAN)
    | [-+]?0[0-9a-fA-FxXoO_]+           # other bases
    | [-+.0-9][-+.0-9eE]*_[-+.0-9eE_]*
    | \+[^"\\]* | [*@%`][^"\\]* | <<    # signs, aliases, merges, and what no plain scalar starts with
    | [\x01-\x06][^"\\]*               # tags
    | (?: null | [-+.]?[0-9][-+.0-9eE]* )?(?=":)
    )"
    """,
    re.VERBOSE,
)
_FEW = 20
_JSON = msgspec.json.Decoder(float_hook=number)


def quick_value(text: Text, scalar_bytes: int) -> tuple[Any] | None:
    """The value of a text of one document, in a tuple; or `None` if the exact way must be taken."""
    data = text.safe
    if not data or len(data) > scalar_bytes or b"\t" in data:
        return None
    try:
        tree = ryml.parse_in_arena(data)
        written = (ryml.emit_json_malloc(tree, tree.root_id()) or "").encode()
        if not written or not _all_quoted(data, written):
            return None
        if text.mark:
            written = written.replace(text.mark.encode(), b"!")
        written = msgspec.json.format(written, indent=-1)
        value = _JSON.decode(written)
    except (ryml.ExceptionBasic, msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return None if has_equal_keys(written, value) else (value,)


def _all_quoted(data: bytes, written: bytes) -> bool:
    """Whether every odd text in the JSON was in quotes in the YAML, so that it is a text in both.

    All places where quotes and the text can be written are counted on both sides; only a comment could upset that.
    """
    odd = set(_ODD.findall(written))
    if not odd:
        return True
    if b"#" in data or len(odd) > _FEW:
        return False
    return all(_quoted_count(data, text[1:-1]) == _quoted_count(written, text[1:-1]) for text in odd)


def _quoted_count(data: bytes, text: bytes) -> int:
    return data.count(b'"%b"' % text) + data.count(b"'%b'" % text) + data.count(b'\\"%b\\"' % text)


def has_equal_keys(compact: bytes, value: Any) -> bool:
    """Whether JSON without blanks had two equal keys in one mapping, of which the decoder kept one.

    Written back, the value has as many keys as the text had. A `":` inside a text counts on both sides.
    """
    return compact.count(b'":') != msgspec.json.encode(value).count(b'":')
