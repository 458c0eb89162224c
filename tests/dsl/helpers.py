"""What these tests share: real programs, and a language that is not Karel's."""

import json
from pathlib import Path

import numpy as np

from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution

TRACES = Path(__file__).parent.parent / "golden" / "traces.jsonl"
GOLDEN = tuple(json.loads(line)["program"] for line in TRACES.read_text().splitlines())
"""the texts of 1,200 programs that the authors' code ran"""

HOOVER = Language(actions=("forward", "turn", "suck"), perceptions=("dirt", "bump"), max_repeat=3)
"""a second domain: it shares no action and no perception with Karel"""
HOOVER_TRUTH = np.array([[False, True, False], [False, False, True]])
"""of three codes: nothing, dirt, bump"""
HOOVER_PROGRAMS = ProgramDistribution(actions=(0.5, 0.25, 0.25), perceptions=(0.5, 0.5))
