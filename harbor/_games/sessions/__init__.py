"""What the games that are played in sessions of several runs share."""
