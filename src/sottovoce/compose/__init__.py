"""Several numbers per person, within one ε.

budget      split_budget: ε divided among mechanisms so that a weighted total error is least
vectors     Vector: many attributes, all of them or a few by lot per person; `reports` has its tallies
strategies  vector: which of these, chosen by exact variances
polar       polar: distance and angle; `disc` estimates from its reports
joint       their JSON, and the exact ratio of a joint report
rounds      two_rounds: a first small round says where values lie, the second uses it
"""
