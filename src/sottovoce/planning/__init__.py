"""Which mechanism, what error, how many people: questions to answer before anything is collected."""
