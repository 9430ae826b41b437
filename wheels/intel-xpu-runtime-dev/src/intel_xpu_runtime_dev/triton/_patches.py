"""What has to be replaced in Triton where a version has no hook for it."""

from __future__ import annotations

from typing import Any

from ._driver import Driver


def apply(driver: Driver) -> None:
    """Keep Triton from compiling helpers with a C++ compiler and from asking torch for events."""
    from triton import testing
    from triton.backends import backends

    driver.give_timers_to(testing)
    # Backends are loaded by path, so that the class's own globals are the only way to its module. Newer backends take
    # the architecture from the target and do not ask.
    if "intel" in backends:
        vars_of_module = backends["intel"].compiler.__init__.__globals__
        if "compile_module_from_src" in vars_of_module:
            vars_of_module["compile_module_from_src"] = lambda *_, **__: _ArchitectureParser()


class _ArchitectureParser:
    """Stands where the compiled `arch_parser.c` would: it finds a name for `ocloc`, which is not used."""

    @staticmethod
    def parse_device_arch(architecture: Any) -> str:
        """Return no name."""
        return ""
