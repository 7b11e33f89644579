"""Formats of names, labels and quantities.

Source: `k8s.io/apimachinery/pkg/util/validation`.
"""

import re
from functools import lru_cache

from kueuepy._core import Quantity

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS_LABEL = re.compile(_LABEL)
DNS_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_LABEL_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
SUBDOMAIN_LENGTH = 253
LABEL_LENGTH = 63
_ENDS = "with a letter or digit at each end"
LABEL_FORM = f"a DNS label: at most {LABEL_LENGTH} of a-z, 0-9 and -, {_ENDS}"
SUBDOMAIN_FORM = f"a DNS subdomain: at most {SUBDOMAIN_LENGTH} of a-z, 0-9, - and ., {_ENDS}"
KEY_FORM = f"a label key: at most {LABEL_LENGTH} letters, digits, -, _ and ., if need be after a DNS subdomain and /"
VALUE_FORM = f"a label value: at most {LABEL_LENGTH} letters, digits, -, _ and ., {_ENDS}"
_HTTP_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
QUANTITY = re.compile(rf"[+-]?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?{_NUMBER}))?")
_REMEMBERED = 4096  # size of the caches of checked names


@lru_cache(maxsize=_REMEMBERED)
def is_subdomain(name: str) -> bool:
    """Return whether a string is a DNS subdomain (RFC 1123)."""
    return len(name) <= SUBDOMAIN_LENGTH and bool(DNS_SUBDOMAIN.fullmatch(name))


@lru_cache(maxsize=_REMEMBERED)
def is_label_key(key: str) -> bool:
    """Return whether a string is a valid label key."""
    prefix, slash, word = key.rpartition("/")
    if slash and not is_subdomain(prefix):
        return False
    return len(word) <= LABEL_LENGTH and bool(_LABEL_WORD.fullmatch(word))


@lru_cache(maxsize=_REMEMBERED)
def is_label_value(value: str) -> bool:
    """Return whether a string is a valid label value."""
    return value == "" or (len(value) <= LABEL_LENGTH and bool(_LABEL_WORD.fullmatch(value)))


def is_admission_gate(name: str) -> bool:
    """Return whether a string is a valid name of an admission gate: a domain, `/` and a path.

    Source: `pkg/util/webhook/validation_admissiongatedby.go`.
    """
    domain, _, path = name.partition("/")
    return len(name) <= LABEL_LENGTH and bool(DNS_SUBDOMAIN.fullmatch(domain) and _HTTP_PATH.fullmatch(path))


def read_quantity(value: str | int) -> Quantity | str:
    """Return a quantity, or the reason why a value is not valid, regardless of the pattern of the API's schema."""
    try:
        return Quantity(str(value))
    except ValueError as error:
        return str(error)
