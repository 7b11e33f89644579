"""Texts of users, files and clusters for display: none of their characters acts on a terminal, a page or a chart."""

from __future__ import annotations

import html
import re

# Control characters except tabs and line breaks, characters that change the direction of text, and surrogates.
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ONE_BYTE = 0x100


def visible(text: str) -> str:
    r"""Replace characters that control a terminal or the direction of text with their escapes.

    >>> visible("train\x1b[2J"), visible("\u202egnp.exe")
    ('train\\x1b[2J', '\\u202egnp.exe')
    """
    return _ACTIVE.sub(_escape, text) if _ACTIVE.search(text) else text


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < _ONE_BYTE else f"\\u{code:04x}"


def escape(text: str) -> str:
    """Return a text as HTML or SVG that shows it unchanged.

    >>> escape("<b>")
    '&lt;b&gt;'
    """
    return html.escape(visible(text))


def plain(text: str) -> str:
    r"""Return a text for matplotlib, which shows it unchanged.

    Without this function, matplotlib typesets a text between two `$` as a formula, and leaves out a legend entry that
    begins with `_`.

    >>> plain("$5 to $9"), plain("_batch")
    ('\\$5 to \\$9', ' _batch')
    """
    shown = visible(text).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
