"""From counts to answers: pure functions of a tally, each with its uncertainty."""

from sottovoce.errors import require_extra

require_extra("analysis", "an estimate")
