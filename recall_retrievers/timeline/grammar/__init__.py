"""What languages share: the engine, its readings, and the patterns over roles of words."""
