"""English: words, numbers and patterns."""
