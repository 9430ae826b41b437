"""The smoke test: compile a host on this machine, JIT-compile a Triton kernel with it, launch it, compare every number."""
