"""Several numbers per person, within one ε: surveys, pairs, groups, polar coordinates, rounds."""

from sottovoce.errors import require_extra

require_extra("analysis", "a survey")
