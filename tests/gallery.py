"""The script `docs/gallery/make.py`, whose pages the tests open in a browser."""

import importlib.util
import sys
from pathlib import Path

_PATH = Path(__file__).parents[1] / "docs" / "gallery" / "make.py"
_spec = importlib.util.spec_from_file_location("gallery_make", _PATH)
make = importlib.util.module_from_spec(_spec)
sys.modules["gallery_make"] = make
_spec.loader.exec_module(make)
