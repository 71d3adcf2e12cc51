"""German, Spanish and French: one grammar, and a file of words for each language."""
