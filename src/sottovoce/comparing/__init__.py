"""Several groups or days against each other: differences, comparisons, trends."""
