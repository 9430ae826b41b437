"""The conda packages, the channel, and environments made from it."""
