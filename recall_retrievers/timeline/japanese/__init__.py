"""Japanese: words, numbers and patterns."""
