"""The senses that a program uses are selected from all perceptions."""

import numpy as np

from leaps.compiled.kernels import code_of
from leaps.dsl.compiler import NO_SENSE


def test_bits_are_selected_in_the_programs_order() -> None:
    senses = np.array([[3, 0, 63, NO_SENSE], [1, NO_SENSE, NO_SENSE, NO_SENSE]], np.uint8)
    assert code_of(np.uint64(0b1001), senses, 0) == 0b011
    assert code_of(np.uint64(1 << 63), senses, 0) == 0b100
    assert code_of(np.uint64(0b0010), senses, 1) == 0b1
    assert code_of(np.uint64(0b1101), senses, 1) == 0b0
