"""The page of results that a colleague gets, the portrait of a mechanism."""
