"""Freed memory stays in the process."""

import ctypes
import subprocess
import sys

import pytest

CHURN = """
import resource
import numpy as np
from leaps.base.memory import keep_what_is_freed

{first}
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def churn():
    for _ in range(20):
        np.ones(20_000_000)  # 160 MB

churn()
before = faults()
churn()
print(faults() - before)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="needs GNU's C library"
)
def test_freed_memory_is_reused_without_page_faults() -> None:
    def faults(first: str) -> int:
        command = [sys.executable, "-c", CHURN.format(first=first)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert faults("keep_what_is_freed()") < 100 < 1000 < faults("")
