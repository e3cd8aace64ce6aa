"""Questions asked in rounds: the first reports choose the mechanism of everybody else. A file a question."""
