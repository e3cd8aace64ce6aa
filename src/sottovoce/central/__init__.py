"""Statistics in the central model: exact noise on integer sums, under add-remove neighbours."""
