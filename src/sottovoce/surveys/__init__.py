"""Several numbers per person, within one ε.

survey       survey: a survey whose questions are all answered, or a few by lot, chosen by exact variances
item_worth   which mechanism a question gets, and what a report of it is worth
split_budget split_budget: ε divided so that a weighted total error is least; `error_curves` finds how
any_of       any_of: any of several options
within       within: a number within private groups
pair         pair: how numbers of one person vary together; pair_rounds asks first where they lie
polar        polar: a position by distance and angle; `estimates.polar_position` reads its reports
rounds/      two_rounds: a first small round says where values lie, the second uses it
"""

from sottovoce.errors import require_extra

require_extra("analysis", "a composition")
