"""How the search gate reads: turns, languages as data, phrases, and what they say of a message."""
