"""Features that only Karel has: parts of the studio, data sets, and recorded runs of another interpreter."""

from leaps.domain import Extras, RandomWorlds
from leaps.karel.conformance import conform
from leaps.karel.dataset import DataConfig, Dataset, in_worlds, make_dataset, worlds_for
from leaps.karel.studio import KarelStudio

EXTRAS = Extras(
    KarelStudio(),
    conform,
    RandomWorlds(
        DataConfig, make_dataset, Dataset.load, lambda program, seed: in_worlds(worlds_for(program, seed))
    ),
)
