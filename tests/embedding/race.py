"""Runs a known race in two threads, as a check of the tool that should report it: `python race.py race.so`."""

import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor

count = ctypes.CDLL(sys.argv[1]).count  # without the interpreter's lock
with ThreadPoolExecutor(2) as pool:
    for _ in range(20):
        pool.submit(count)
