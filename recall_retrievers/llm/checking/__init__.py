"""Whether a sentence rests on the memories that it cites: its words, numbers, names and links."""
