"""From counts to answers: pure functions of a tally, each with its uncertainty."""
