"""Several numbers per person, within one ε.

selection   which mechanism a question gets, and what a report of it is worth
budget      split_budget: ε divided so that a weighted total error is least; `curves` finds how
strategies  survey: a survey whose questions are all answered, or a few by lot, chosen by exact variances
several     any_of: any of several options
within      within: a number within private groups
pair        pair: how numbers of one person vary together; pair_rounds asks first where they lie
polar       polar: a position by distance and angle; `disc` estimates from its reports
rounds      two_rounds: a first small round says where values lie, the second uses it
"""

from sottovoce.errors import require_extra

require_extra("analysis", "a composition")
