"""Say what is wrong with an installation, and the one thing to do about it."""
