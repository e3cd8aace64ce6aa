"""Campaigns, their rounds, tokens and invitations."""
