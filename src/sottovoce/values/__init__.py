"""What an answer can be: intervals, circles, options, discs, areas; missing and outside; checked arrays."""
