"""What survives a crash: durable file, journal, folders, atomic file."""
