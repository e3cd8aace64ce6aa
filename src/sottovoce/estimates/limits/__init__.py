"""Limits from counts: of weighted averages, of quantiles, at every n, at every look, for declared shapes."""
