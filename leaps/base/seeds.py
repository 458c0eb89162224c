"""Disjoint ranges of seeds, so that a program is never judged on worlds that it was found with.

A user's seed is below SPAN. Each range begins at a multiple of SPAN, to which the user's seed is added. So
searches and trainings with different seeds draw different worlds, and no range overlaps the next.
"""

SPAN = 2**40
"""seeds of a range; a user's seed is 0 to SPAN - 1"""
SEARCH_SEEDS = SPAN
"""worlds that a search scores programs on"""
CHECK_SEEDS = 2 * SPAN
"""fresh worlds that a search checks good programs on"""
UNSEEN_SEEDS = 3 * SPAN
"""held-out worlds; reported returns are means over them"""
VIPER_SEEDS = 4 * SPAN
"""worlds in which VIPER trains its decision trees"""
VIPER_VALIDATION_SEEDS = 5 * SPAN
"""worlds on which the best of these trees is chosen"""
DATA_SEEDS = 6 * SPAN
"""initial states of a task in which the programs of a data set are run"""
