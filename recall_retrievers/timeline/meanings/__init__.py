"""The meanings of time expressions: functions from parts of an expression to a reading."""
