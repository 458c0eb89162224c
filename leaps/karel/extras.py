"""Features that only Karel has: parts of the studio, and recorded runs to check both runners against."""

from leaps.domain import Extras
from leaps.karel.conformance import conform
from leaps.karel.studio import KarelStudio

EXTRAS = Extras(KarelStudio(), conform)
