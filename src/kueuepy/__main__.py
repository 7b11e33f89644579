"""`python -m kueuepy`: what works after a plain install."""

from __future__ import annotations

import sys

from kueuepy.command import main

if __name__ == "__main__":
    sys.exit(main())
