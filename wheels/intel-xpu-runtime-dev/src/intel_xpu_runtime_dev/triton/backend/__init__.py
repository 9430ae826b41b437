"""Our driver as Triton discovers it, by the entry point `xpu_ur` of the group `triton.backends` (Triton 3.4 and later).

Triton imports both modules in every process that imports it, so they import nothing but Triton's own base classes.
"""
