"""Ranges of seeds that never meet, so that worlds that judge something are none that it was made with.

A user's seed is below SPAN. Each of these ranges begins at a multiple of SPAN, and what draws from it adds
the user's seed: searches and trainings with different seeds draw different worlds, and no range runs into the
next.
"""

SPAN = 2**40
"""seeds of a range; a user's seed is 0 to SPAN - 1"""
SEARCH_SEEDS = SPAN
"""worlds that a search scores programs on"""
CHECK_SEEDS = 2 * SPAN
"""fresh worlds that a search checks good programs on"""
UNSEEN_SEEDS = 3 * SPAN
"""held-out worlds, which reported returns are means over"""
VIPER_SEEDS = 4 * SPAN
"""worlds that the trees of VIPER act in while they learn"""
VIPER_VALIDATION_SEEDS = 5 * SPAN
"""worlds that the best of these trees is chosen on"""
DATA_SEEDS = 6 * SPAN
"""initial states of a task in which the programs of a data set are run"""
