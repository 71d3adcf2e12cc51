"""The parts that all languages share: tokens, patterns, readings and the calendars."""
