/* Unified Runtime: one program for its adapters; `opencl` or `level-zero` is the second argument.
 *
 * Which of the two Level Zero adapters is taken, UR_LOADER_USE_LEVEL_ZERO_V2 says.
 */
#include "channel.h"

#include <ur_api.h>

#if COMPARE_OPENCL
#include "opencl_layer.h"
#endif

#define BACKEND "unified-runtime"
#include "layer.h"

static ur_device_handle_t device;
static ur_context_handle_t context;
static ur_queue_handle_t queue;
static ur_program_handle_t program;
static ur_kernel_handle_t kernel;
static bool on_opencl;

static ur_device_handle_t first_device(ur_adapter_handle_t adapter) {
    ur_platform_handle_t platforms[16];
    uint32_t count = 0;
    ur_device_handle_t found = NULL;
    if (urPlatformGet(adapter, 16, platforms, &count) != UR_RESULT_SUCCESS) return NULL;
    for (uint32_t p = 0; p < count && p < 16 && !found; p++) {
        uint32_t devices = 0;
        if (urDeviceGet(platforms[p], UR_DEVICE_TYPE_ALL, 1, &found, &devices) != UR_RESULT_SUCCESS) found = NULL;
    }
    return found;
}

static const char *open_layer(const char *adapter) {
    static char name[256];
    ur_adapter_handle_t adapters[16];
    uint32_t count = 0;
    on_opencl = strcmp(adapter, "opencl") == 0;
    CHECK(urLoaderInit, (0, NULL));
    CHECK(urAdapterGet, (16, adapters, &count));
    for (uint32_t a = 0; a < count && a < 16 && !device; a++) {
        ur_backend_t backend;
        CHECK(urAdapterGetInfo, (adapters[a], UR_ADAPTER_INFO_BACKEND, sizeof backend, &backend, NULL));
        if (backend == (on_opencl ? UR_BACKEND_OPENCL : UR_BACKEND_LEVEL_ZERO)) device = first_device(adapters[a]);
    }
    if (!device) fail("urDeviceGet", 0, "%u adapters, none of them has a device of %s", count, adapter);
    CHECK(urDeviceGetInfo, (device, UR_DEVICE_INFO_NAME, sizeof name - 1, name, NULL));
    CHECK(urContextCreate, (1, &device, NULL, &context));
    CHECK(urQueueCreate, (context, device, NULL, &queue));
    return name;
}

static bool build(bytes content, bool native) {
    const uint8_t *data = (const uint8_t *)content.data;
    size_t size = 0;
    build_log[0] = 0;
    ur_result_t result = native
        ? urProgramCreateWithBinary(context, 1, &device, &content.size, &data, NULL, &program)
        : urProgramCreateWithIL(context, content.data, content.size, NULL, &program);
    if (result != UR_RESULT_SUCCESS) return false;
    if (urProgramBuild(context, program, "") == UR_RESULT_SUCCESS)
        return urKernelCreate(program, entry, &kernel) == UR_RESULT_SUCCESS;
    /* Two calls: some adapters tell the log only to who has asked for its size. */
    if (urProgramGetBuildInfo(program, device, UR_PROGRAM_BUILD_INFO_LOG, 0, NULL, &size) == UR_RESULT_SUCCESS
        && size <= sizeof build_log)
        urProgramGetBuildInfo(program, device, UR_PROGRAM_BUILD_INFO_LOG, size, build_log, NULL);
    return false;
}

static bytes native_binary(void) {
    bytes native;
    CHECK(urProgramGetInfo, (program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof native.size, &native.size, NULL));
    native.data = allocate(native.size);
    CHECK(urProgramGetInfo, (program, UR_PROGRAM_INFO_BINARIES, sizeof native.data, &native.data, NULL));
    return native;
}

static void tell_spill(void) {
    uint32_t spill = 0;
    size_t size = 0;
    ur_result_t result = urKernelGetInfo(kernel, UR_KERNEL_INFO_SPILL_MEM_SIZE, 0, NULL, &size);
    if (result == UR_RESULT_SUCCESS)
        result = urKernelGetInfo(kernel, UR_KERNEL_INFO_SPILL_MEM_SIZE, sizeof spill, &spill, NULL);
    if (result == UR_RESULT_SUCCESS) answer("spill", true, "%u bytes", spill);
    else answer("spill", false, "UR_KERNEL_INFO_SPILL_MEM_SIZE gives %d", (int)result);
}

static void tell_properties(void) {
    uint32_t arguments = 0, sub_group = 0;
    size_t work_group = 0;
    CHECK(urKernelGetInfo, (kernel, UR_KERNEL_INFO_NUM_ARGS, sizeof arguments, &arguments, NULL));
    CHECK(urKernelGetGroupInfo,
          (kernel, device, UR_KERNEL_GROUP_INFO_WORK_GROUP_SIZE, sizeof work_group, &work_group, NULL));
    CHECK(urKernelGetSubGroupInfo,
          (kernel, device, UR_KERNEL_SUB_GROUP_INFO_MAX_SUB_GROUP_SIZE, sizeof sub_group, &sub_group, NULL));
    answer("properties", arguments == 4 && work_group >= WORK_GROUP, "arguments %u, work-group up to %zu, sub-group %u",
           arguments, work_group, sub_group);
}

static float *shared_memory(size_t size) {
    void *memory = NULL;
    CHECK(urUSMSharedAlloc, (context, device, NULL, NULL, size, &memory));
    return (float *)memory;
}

static void enqueue(ur_event_handle_t *event) {
    const size_t global[3] = {GROUPS * WORK_GROUP, 1, 1}, local[3] = {WORK_GROUP, 1, 1};
    float *pointers[3] = {left, right, sum};
#if SMOKE_RELEASE >= 20260000
    ur_exp_kernel_arg_properties_t values[4];
    memset(values, 0, sizeof values);
    for (uint32_t i = 0; i < 4; i++) {
        values[i].stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES;
        values[i].index = i;
        values[i].type = i < 3 ? UR_EXP_KERNEL_ARG_TYPE_POINTER : UR_EXP_KERNEL_ARG_TYPE_VALUE;
        values[i].size = i < 3 ? sizeof(void *) : sizeof elements;
        if (i < 3) values[i].value.pointer = pointers[i];
        else values[i].value.value = &elements;
    }
    CHECK(urEnqueueKernelLaunchWithArgsExp, (queue, kernel, 3, NULL, global, local, 4, values, NULL, 0, NULL, event));
#else
    for (uint32_t i = 0; i < 3; i++) CHECK(urKernelSetArgPointer, (kernel, i, NULL, pointers[i]));
    CHECK(urKernelSetArgValue, (kernel, 3, sizeof elements, NULL, &elements));
    CHECK(urEnqueueKernelLaunch, (queue, kernel, 3, NULL, global, local, 0, NULL, 0, NULL, event));
#endif
}

static void submit(void) {
    enqueue(NULL);
}

static bool submit_with_event(void) {
    ur_event_handle_t event = NULL;
    enqueue(&event);
    return event && urEventRelease(event) == UR_RESULT_SUCCESS;
}

static void finish(void) {
    CHECK(urQueueFinish, (queue));
}

/* Unified Runtime has no way to hold a queue; the native queue below it has. */
static bool hold(void) {
#if COMPARE_OPENCL
    ur_native_handle_t native;
    if (!on_opencl) return false;
    CHECK(urQueueGetNativeHandle, (queue, NULL, &native));
    return cl_hold((cl_command_queue)native);
#else
    return false;
#endif
}

static void let_go(void) {
#if COMPARE_OPENCL
    cl_let_go();
#endif
}

int main(int count, char **words) {
    return run(count, words);
}
