"""Which arcs cross, and which plane each arc gets."""
