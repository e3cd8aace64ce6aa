"""The papers' m-piece problem, solved."""
