"""What both languages share: tokens, patterns, readings and the calendar."""
