"""What agents use: profiles and events, the recall tool, and memories before a conversation."""
