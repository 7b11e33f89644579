"""The fast way from YAML text to Python values, for texts without anything odd in them.

rapidyaml writes its tree as JSON, and msgspec reads that. The JSON is right wherever YAML 1.2 and Kubernetes' YAML 1.1
agree and nothing needs following. Whatever else there may be sends the text the exact way of `yamlblock`; where both
answer they agree, and the tests hold them to that. Nothing reaches rapidyaml that could upset it: tags and
anchors make it crash or go on for ever where they stand in odd places.
"""

import re
from typing import Any

import msgspec
import ryml  # type: ignore[import-untyped]

from kueuepy.manifest.scalars import number
from kueuepy.manifest.text import Text

_ODD = re.compile(
    rb"""
    "(?=[-+.0-9yYnNoOtTfF~iI*@%`<"&!|>\#])(?<!\\")(?:
      [yYnN] | [yY]es | YES | [nN]o | NO | [oO]n | ON | [oO]ff | OFF
    | T(?:rue|RUE) | F(?:alse|ALSE) | ~ | N(?:ull|ULL)
    | [-+]?\.?(?:[iI]nf|INF|[nN]a[nN]|NAN)
    | [-+]?0[0-9a-fA-FxXoO_]+           # other bases
    | [-+.0-9][-+.0-9eE]*_[-+.0-9eE_]*
    | [+*@%`&!|>\#](?:[^"\\]|\\.)* | <<     # signs, merges, and what no plain scalar starts with
    | (?: null | [-+.]?[0-9][-+.0-9eE]* )?(?=":)
    )"
    """,
    re.VERBOSE,
)
_SIGNS = b"&*!%@`?|>"
_HARMLESS = bytes(code for code in range(256) if code not in _SIGNS)
_SIGN = re.compile(rb"(?:\A|[\s\[{,:\"'-])(?:[&*!%@`]|\?(?:\s|\Z)|[|>](?![-+]?\n))")
_BREAKS = (b"\t", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")
_FEW = 20
_JSON = msgspec.json.Decoder(float_hook=number)


def quick_value(text: Text, scalar_bytes: int) -> tuple[Any] | None:
    """The value of a text of one document, in a tuple; or `None` if the exact way must be taken."""
    data = text.data
    if not data or len(data) > scalar_bytes or not _is_tame(data):
        return None
    try:
        tree = ryml.parse_in_arena(data)
        written = (ryml.emit_json_malloc(tree, tree.root_id()) or "").encode()
        if not written or not _all_quoted(data, written):
            return None
        written = msgspec.json.format(written, indent=-1)
        value = _JSON.decode(written)
    except (ryml.ExceptionBasic, msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return None if has_equal_keys(written, value) else (value,)


def _is_tame(data: bytes) -> bool:
    """Whether there are no signs but those of mappings, lists, quotes, comments and plain blocks of text."""
    if any(sign in data for sign in _BREAKS):
        return False
    if (b"|" in data or b">" in data) and (b" \n" in data or not data.endswith(b"\n")):
        # Of blocks of text rapidyaml loses lines of blanks, and it ends the last one with a line break of its own.
        return False
    return not data.translate(None, _HARMLESS) or not _SIGN.search(data)


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
