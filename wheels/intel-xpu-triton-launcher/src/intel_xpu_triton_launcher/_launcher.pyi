from collections.abc import Callable

INTERFACE: int
MAX_ARGUMENTS: int

def launcher(
    functions: tuple[int, int, int, int, int],
    codes: bytes,
    paths: tuple[tuple[int, ...], ...],
    scratch_pointers: int,
    threads: int,
    verify: Callable[[int], int],
    fail: Callable[[int], None],
    /,
) -> Callable[..., None]: ...
