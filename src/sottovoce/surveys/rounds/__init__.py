"""One protocol (first, second, estimate), a file a question."""
