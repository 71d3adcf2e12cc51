"""What searching and ranking share: scores on one scale, arms fused, copies found."""
