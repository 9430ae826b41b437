/* Level Zero directly: an immediate in-order command list. */
#include "channel.h"

#include <level_zero/ze_api.h>

#define BACKEND "level-zero"
#include "layer.h"

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_command_list_handle_t list;
static ze_event_pool_handle_t pool;
static ze_event_handle_t finished;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;

static void create_event(void) {
    ze_event_pool_desc_t about_pool;
    ze_event_desc_t about;
    memset(&about_pool, 0, sizeof about_pool);
    memset(&about, 0, sizeof about);
    about_pool.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
    about_pool.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    about_pool.count = 1;
    about.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    about.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    CHECK(zeEventPoolCreate, (context, &about_pool, 1, &device, &pool));
    CHECK(zeEventCreate, (pool, &about, &finished));
}

static const char *open_layer(const char *adapter) {
    static ze_device_properties_t about;
    ze_context_desc_t about_context;
    ze_command_queue_desc_t queue;
    uint32_t count = 1;
    (void)adapter;
    ze_result_t result = zeInit(0);
    if (result != ZE_RESULT_SUCCESS) fail("zeInit", (unsigned)result, "no driver and device of Level Zero");
    CHECK(zeDriverGet, (&count, &driver));
    count = 1;
    CHECK(zeDeviceGet, (driver, &count, &device));
    about.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    CHECK(zeDeviceGetProperties, (device, &about));
    memset(&about_context, 0, sizeof about_context);
    memset(&queue, 0, sizeof queue);
    about_context.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
    queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    queue.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    CHECK(zeContextCreate, (driver, &about_context, &context));
    CHECK(zeCommandListCreateImmediate, (context, device, &queue, &list));
    create_event();
    return about.name;
}

static bool build(bytes content, bool native) {
    ze_module_desc_t about;
    ze_kernel_desc_t about_kernel;
    ze_module_build_log_handle_t log = NULL;
    size_t size = sizeof build_log;
    memset(&about, 0, sizeof about);
    memset(&about_kernel, 0, sizeof about_kernel);
    about.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    about.format = native ? ZE_MODULE_FORMAT_NATIVE : ZE_MODULE_FORMAT_IL_SPIRV;
    about.inputSize = content.size;
    about.pInputModule = (const uint8_t *)content.data;
    about.pBuildFlags = "";
    build_log[0] = 0;
    ze_result_t result = zeModuleCreate(context, device, &about, &module, &log);
    if (log && result != ZE_RESULT_SUCCESS) zeModuleBuildLogGetString(log, &size, build_log);
    if (log) CHECK(zeModuleBuildLogDestroy, (log));
    about_kernel.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
    about_kernel.pKernelName = ENTRY;
    return result == ZE_RESULT_SUCCESS && zeKernelCreate(module, &about_kernel, &kernel) == ZE_RESULT_SUCCESS;
}

static bytes native_binary(void) {
    bytes native;
    native.size = 0;
    CHECK(zeModuleGetNativeBinary, (module, &native.size, NULL));
    native.data = allocate(native.size);
    CHECK(zeModuleGetNativeBinary, (module, &native.size, (uint8_t *)native.data));
    return native;
}

static void tell_kernel(void) {
    ze_kernel_properties_t about;
    memset(&about, 0, sizeof about);
    about.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    CHECK(zeKernelGetProperties, (kernel, &about));
    answer("spill", true, "%u bytes", about.spillMemSize);
    answer("properties", about.numKernelArgs == 4, "arguments %u, sub-group %u, private memory %u bytes",
           about.numKernelArgs, about.maxSubgroupSize, about.privateMemSize);
}

static float *shared_memory(size_t size) {
    ze_device_mem_alloc_desc_t on_device;
    ze_host_mem_alloc_desc_t on_host;
    void *memory = NULL;
    memset(&on_device, 0, sizeof on_device);
    memset(&on_host, 0, sizeof on_host);
    on_device.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
    on_host.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
    CHECK(zeMemAllocShared, (context, &on_device, &on_host, size, 64, device, &memory));
    return (float *)memory;
}

static void append(ze_event_handle_t event) {
    const ze_group_count_t groups = {GROUPS, 1, 1};
    CHECK(zeKernelSetGroupSize, (kernel, WORK_GROUP, 1, 1));
    CHECK(zeKernelSetArgumentValue, (kernel, 0, sizeof left, &left));
    CHECK(zeKernelSetArgumentValue, (kernel, 1, sizeof right, &right));
    CHECK(zeKernelSetArgumentValue, (kernel, 2, sizeof sum, &sum));
    CHECK(zeKernelSetArgumentValue, (kernel, 3, sizeof elements, &elements));
    CHECK(zeCommandListAppendLaunchKernel, (list, kernel, &groups, event, 0, NULL));
}

static void submit(void) {
    append(NULL);
}

static bool submit_with_event(void) {
    CHECK(zeEventHostReset, (finished));
    append(finished);
    return true;
}

static void finish(void) {
    CHECK(zeCommandListHostSynchronize, (list, UINT64_MAX));
}

/* Unified Runtime offers no way to hold a device of Level Zero, so nothing could be compared with a time held here. */
static bool hold(void) {
    return false;
}

static void let_go(void) {
}

int main(int count, char **words) {
    return run(count, words);
}
