"""What runs beside a person's data: the client, and the ledger of spent ε.

client            Client: one campaign of a collector; report, send, flush
address           the address of a collector, in one spelling
connection        one connection to a collector
record            where a client writes down what it draws: an outbox or a ledger
outbox            what a client has drawn, before it is sent
ledger            Ledger: enrol, report, acknowledge; every ε that was spent
checked_answers   what can be an answer, and what is refused
inquiry           what a campaign asks: a reporter, and the rule for missing and out-of-range values
agreement         terms from arguments and from a file
terms             what a campaign was agreed to: how reports repeat, what is charged
ledger_state      what the entries of a ledger add up to; a file that breaks the rules is refused
ledger_statement  a ledger in plain words
"""
