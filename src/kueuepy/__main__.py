"""Entry point of `python -m kueuepy`, which runs the command `kueuepy`."""

import sys

from kueuepy.cli import main

if __name__ == "__main__":
    sys.exit(main())
