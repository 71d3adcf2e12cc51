"""Pure functions over candidates: scores on one scale, fusion, copies, diversity, sessions."""
