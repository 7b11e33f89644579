"""A known data race in two threads, to check that ThreadSanitizer reports it: `python race.py race.so`."""

import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor

count = ctypes.CDLL(sys.argv[1]).count  # without the interpreter's lock
with ThreadPoolExecutor(2) as pool:
    for _ in range(20):
        pool.submit(count)
