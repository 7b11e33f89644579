"""The frame of HTML pages: one file without external resources, under a strict content security policy."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from kueuepy.look.colours import tokens
from kueuepy.look.escapes import escape


def style() -> str:
    """Return the style sheet that all pages share: colours as variables, text, tables, cards and print."""
    return tokens() + (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


def document(title: str, body: str, *, extra_style: str = "", script: str = "", connect: str = "'none'") -> str:
    """Return a whole HTML page.

    Args:
        title: The title, as plain text.
        body: The content of the `body` element, as HTML.
        extra_style: CSS that follows the style sheet that all pages share.
        script: JavaScript at the end of the page; an empty string for a page without a script.
        connect: The addresses to which the script may connect; none by default.
    """
    css = style() + extra_style
    rules = policy_of(extra_style=extra_style, script=script, connect=connect)
    code = f"<script>{script}</script>\n" if script else ""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(rules)}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{css}</style>\n</head>\n<body>\n{body}\n{code}</body>\n</html>\n"
    )


def policy_of(*, extra_style: str = "", script: str = "", connect: str = "'none'") -> str:
    """Return the content security policy of a `document` with these arguments, for the header of a server.

    The policy allows the style sheet and the script of the document, by their hash, and nothing else: no `style`
    attributes and no `on...` attributes.
    """
    scripts = _hash(script) if script else "'none'"
    return (
        f"default-src 'none'; style-src {_hash(style() + extra_style)}; script-src {scripts}; img-src data:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def data_element(name: str, value: Any) -> str:
    r"""Return an element with data for the script of a page, as JSON; browsers do not run it.

    >>> data_element("names", ["</script>"])
    '<script type="application/json" id="names">["\\u003c/script>"]</script>'

    Args:
        name: The id of the element.
        value: The data.
    """
    # `</script>` in a name would end the element.
    text = msgspec.json.encode(value).decode().replace("<", "\\u003c")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'


def _hash(text: str) -> str:
    """Return the source expression for an inline element with this content."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
