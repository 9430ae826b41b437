/* What the double changes on the way to the real loader. A function double_NAME is what becomes of a call of NAME.
 *
 * Included once by the source that generate.py writes, behind its real_NAME functions.
 */

/* The shared allocations so far, in their order. */
static void *allocations[64];
static unsigned allocation_count;

static ur_result_t double_urPlatformGet(ur_adapter_handle_t adapter, uint32_t room, ur_platform_handle_t *platforms,
                                        uint32_t *count) {
    if (strcmp(setting("UR_DOUBLE_PLATFORMS", ""), "0") != 0) return real_urPlatformGet(adapter, room, platforms, count);
    if (count) *count = 0;
    return UR_RESULT_SUCCESS;
}

static ur_result_t double_urDeviceGet(ur_platform_handle_t platform, ur_device_type_t type, uint32_t room,
                                      ur_device_handle_t *devices, uint32_t *count) {
    if (strcmp(setting("UR_DOUBLE_DEVICES", ""), "0") == 0) return UR_RESULT_ERROR_DEVICE_NOT_FOUND;
    return real_urDeviceGet(platform, type, room, devices, count);
}

static ur_result_t double_urUSMSharedAlloc(ur_context_handle_t context, ur_device_handle_t device,
                                           const ur_usm_desc_t *about, ur_usm_pool_handle_t pool, size_t size,
                                           void **memory) {
    ur_result_t result = real_urUSMSharedAlloc(context, device, about, pool, size, memory);
    if (result == UR_RESULT_SUCCESS && allocation_count < sizeof allocations / sizeof *allocations)
        allocations[allocation_count++] = *memory;
    return result;
}

static ur_result_t double_urQueueFinish(ur_queue_handle_t queue) {
    ur_result_t result = real_urQueueFinish(queue);
    int scribble = atoi(setting("UR_DOUBLE_SCRIBBLE", "-1"));
    size_t offset = strtoul(setting("UR_DOUBLE_OFFSET", "0"), NULL, 10);
    if (scribble >= 0 && (unsigned)scribble < allocation_count)
        *(float *)((char *)allocations[scribble] + offset) = 1.0f;
    return result;
}
