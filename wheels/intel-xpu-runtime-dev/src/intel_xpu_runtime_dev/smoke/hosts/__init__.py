"""The host, the process that talks to the driver: compiled (C) or, without a compiler, by ctypes. Both say the same lines."""
