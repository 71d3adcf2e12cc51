"""Numbers by their value: in words or figures, with units, as dates and as times of day."""
