"""What runs beside a person's data: the client, and the ledger of spent ε.

A client asks a collector for a campaign, holds its mechanism against what was agreed to, and writes down
every report before it sends it: in an outbox, or in a ledger, which also keeps account of ε. Nothing here
needs more than numpy and cryptography.
"""
