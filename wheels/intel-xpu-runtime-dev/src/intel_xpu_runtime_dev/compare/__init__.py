"""The command `compare`: which runtime layer to put under a launcher, by what each of them does on this machine."""
