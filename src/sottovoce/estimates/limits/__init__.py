"""How far off an answer can be: weighted counts, envelope, quantile interval, every n, regions."""
