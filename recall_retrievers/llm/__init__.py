"""What the stages that use a language model share: prompts, replies, windows, claims and costs."""
