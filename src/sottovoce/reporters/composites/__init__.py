"""Named items, each a reporter again: survey, functions by lot, polar."""
