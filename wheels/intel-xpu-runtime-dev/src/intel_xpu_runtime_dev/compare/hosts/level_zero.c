/* Level Zero directly: an immediate in-order command list. */
#include "channel.h"

#include "ze_layer.h"

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
    module = ze_build(context, device, content, native, build_log, sizeof build_log);
    kernel = module ? ze_kernel(module, entry) : NULL;
    return kernel != NULL;
}

static bytes native_binary(void) {
    return ze_native_binary(module);
}

static ze_kernel_properties_t properties(void) {
    ze_kernel_properties_t about;
    memset(&about, 0, sizeof about);
    about.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    CHECK(zeKernelGetProperties, (kernel, &about));
    return about;
}

static void tell_spill(void) {
    answer("spill", true, "%u bytes", properties().spillMemSize);
}

static void tell_properties(void) {
    ze_kernel_properties_t about = properties();
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
