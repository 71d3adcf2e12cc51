"""What is written: rows that changed, each with its vector, also in the row indexes here."""
