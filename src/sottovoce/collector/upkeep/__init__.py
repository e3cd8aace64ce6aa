"""What an operator asks of a store: a backup, a confirmed day, counts that add up."""
