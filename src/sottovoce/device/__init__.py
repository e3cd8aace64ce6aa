"""What runs beside a person's data: the ledger of spent ε, and answers that are drawn once and kept.

questions what is asked: a number, several at once, a position; missing and out-of-range values
terms     what a campaign was agreed to: how often it may ask, what repeats, what is charged
state     what a chain of entries adds up to; a chain that breaks the rules is refused
ledger    Ledger: enrol, answer, acknowledge
words     the same in plain words
client    Client: one campaign of a collector; report, send, flush
outbox    what a client has drawn, before it is sent
wire      one connection to a collector
"""

from sottovoce.device.ledger import Ledger as Ledger
from sottovoce.device.state import Account as Account
from sottovoce.device.state import Answer as Answer
