"""What time expressions mean: functions from parts of an expression to a reading."""
