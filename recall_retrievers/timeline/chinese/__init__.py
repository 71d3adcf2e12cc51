"""Chinese: words, numbers and patterns."""
