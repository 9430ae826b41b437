"""A device in use: its context and queues."""

from __future__ import annotations

import ctypes

from .._ur import Device, UnifiedRuntime
from .._ur_api import HANDLE, QUEUE_PROFILING, DeviceInfo, QueueProperties, StructureType


class Session:
    """One device with a context and an in-order queue of its own."""

    has_memory = False  # whether arrays were made in the context

    def __init__(self, runtime: UnifiedRuntime, device: Device, *, profiling: bool) -> None:
        self.runtime = runtime
        self.device = device
        self.profiling = profiling
        handle = HANDLE(device.handle)
        self.context = runtime.created("urContextCreate", 1, ctypes.byref(handle), None)
        properties = QueueProperties(
            StructureType.QUEUE_PROPERTIES, None, QUEUE_PROFILING if profiling else 0
        )
        self._queue = runtime.created("urQueueCreate", self.context, device.handle, ctypes.byref(properties))

    @property
    def queue(self) -> int:
        """The queue that kernels and fills go to."""
        return self._queue

    @property
    def fingerprint(self) -> tuple[object, ...]:
        """What machine code depends on: the device, its driver, and the runtime's release."""
        device = self.device
        driver = device.text(DeviceInfo.DRIVER_VERSION)
        return (
            device.name,
            device.number(DeviceInfo.IP_VERSION),
            device.backend,
            driver,
            self.runtime.version,
        )

    def synchronize(self) -> None:
        """Wait until everything enqueued so far has ended."""
        self.runtime.call("urQueueFinish", self.queue)
