/* Unified Runtime's part of the compiled host. Compiles as C and as C++: for MSVC ur_api.h is not C.
 *
 * The compiler also defines SMOKE_RELEASE, the headers' release as a number: 20260200 for 2026.2.0.
 */
#include "channel.h"

#include <unified-runtime/ur_api.h>

#define BACKEND "unified-runtime"

static ur_device_handle_t devices[MAX_DEVICES];
static unsigned device_count;

typedef struct {
    ur_device_handle_t device;
    ur_context_handle_t context;
    ur_queue_handle_t queue;
} target;

typedef struct {
    ur_program_handle_t program;
    ur_kernel_handle_t kernel;
} module;

static void load(void) {
    CHECK(urLoaderInit, (0, NULL));
    done("%s", loader_path("urLoaderInit"));
}

typedef struct {
    const char *call; /* "" when every call succeeded */
    ur_result_t result;
    unsigned platforms;
} listing;

/* Add the devices of one adapter. An adapter without its driver may refuse: that is remembered, others may do. */
static void list_adapter(ur_adapter_handle_t adapter, listing *seen) {
    uint32_t platform_count = 0;
    seen->call = "urPlatformGet";
    seen->result = urPlatformGet(adapter, 0, NULL, &platform_count);
    if (seen->result != UR_RESULT_SUCCESS) return;
    ur_platform_handle_t *platforms = (ur_platform_handle_t *)allocate(platform_count * sizeof *platforms);
    if (platform_count) CHECK(urPlatformGet, (adapter, platform_count, platforms, NULL));
    seen->platforms += platform_count;
    for (uint32_t p = 0; p < platform_count; p++) {
        uint32_t count = 0;
        ur_result_t result = urDeviceGet(platforms[p], UR_DEVICE_TYPE_ALL, 0, NULL, &count);
        if (result == UR_RESULT_ERROR_DEVICE_NOT_FOUND) continue;
        seen->call = "urDeviceGet";
        seen->result = result;
        if (result != UR_RESULT_SUCCESS) return;
        if (device_count + count > MAX_DEVICES) fail("urDeviceGet", 0, "more than %d devices", MAX_DEVICES);
        if (count) CHECK(urDeviceGet, (platforms[p], UR_DEVICE_TYPE_ALL, count, devices + device_count, NULL));
        device_count += count;
    }
}

static void tell_device(unsigned index) {
    char name[512] = "", driver[512] = "";
    ur_device_type_t type = UR_DEVICE_TYPE_DEFAULT;
    CHECK(urDeviceGetInfo, (devices[index], UR_DEVICE_INFO_NAME, sizeof name - 1, name, NULL));
    CHECK(urDeviceGetInfo, (devices[index], UR_DEVICE_INFO_DRIVER_VERSION, sizeof driver - 1, driver, NULL));
    CHECK(urDeviceGetInfo, (devices[index], UR_DEVICE_INFO_TYPE, sizeof type, &type, NULL));
    const char *kind = type == UR_DEVICE_TYPE_CPU ? "cpu" : type == UR_DEVICE_TYPE_GPU ? "gpu" : "other";
    say("device\tindex=%u\ttype=%s\tname=%s\tdriver=%s", index, kind, one_line(name), one_line(driver));
}

static void list_devices(void) {
    uint32_t adapter_count = 0;
    listing seen = {"", UR_RESULT_SUCCESS, 0}, refused = seen;
    CHECK(urAdapterGet, (0, NULL, &adapter_count));
    ur_adapter_handle_t *adapters = (ur_adapter_handle_t *)allocate(adapter_count * sizeof *adapters);
    if (adapter_count) CHECK(urAdapterGet, (adapter_count, adapters, NULL));
    for (uint32_t a = 0; a < adapter_count; a++) {
        list_adapter(adapters[a], &seen);
        if (seen.result != UR_RESULT_SUCCESS) refused = seen;
    }
    if (device_count == 0 && refused.result != UR_RESULT_SUCCESS)
        fail(refused.call, (unsigned)refused.result, "and no other adapter has a device");
    for (unsigned d = 0; d < device_count; d++) tell_device(d);
    done("%u adapters, %u platforms, %u devices", adapter_count, seen.platforms, device_count);
}

static void open_device(target *on, const job *wanted) {
    if (wanted->device >= device_count) fail("job", 0, "no device %u", wanted->device);
    on->device = devices[wanted->device];
    CHECK(urContextCreate, (1, &on->device, NULL, &on->context));
    CHECK(urQueueCreate, (on->context, on->device, NULL, &on->queue));
}

static void close_device(const target *on) {
    CHECK(urQueueRelease, (on->queue));
    CHECK(urContextRelease, (on->context));
    CHECK(urLoaderTearDown, ());
}

static void release_module(const module *of) {
    CHECK(urKernelRelease, (of->kernel));
    CHECK(urProgramRelease, (of->program));
}

static void *shared_memory(const target *on, size_t size) {
    void *memory = NULL;
    CHECK(urUSMSharedAlloc, (on->context, on->device, NULL, NULL, size, &memory));
    return memory;
}

static void free_memory(const target *on, void *memory) {
    CHECK(urUSMFree, (on->context, memory));
}

static void check_build(const target *on, ur_program_handle_t program, const char *options) {
    ur_result_t result = urProgramBuild(on->context, program, options);
    if (result == UR_RESULT_SUCCESS) return;
    size_t size = 0;
    urProgramGetBuildInfo(program, on->device, UR_PROGRAM_BUILD_INFO_LOG, 0, NULL, &size);
    char *log = (char *)allocate(size + 1);
    if (size) urProgramGetBuildInfo(program, on->device, UR_PROGRAM_BUILD_INFO_LOG, size, log, NULL);
    fail("urProgramBuild", (unsigned)result, "%s", log);
}

static module from_spirv(const target *on, const job *wanted) {
    module made;
    bytes spirv = read_file(wanted->spirv);
    CHECK(urProgramCreateWithIL, (on->context, spirv.data, spirv.size, NULL, &made.program));
    check_build(on, made.program, wanted->options);
    CHECK(urKernelCreate, (made.program, wanted->entry, &made.kernel));
    return made;
}

/* Make the module of a native binary; return false when the driver does not take it. */
static bool from_native(const target *on, const job *wanted, bytes native, module *made) {
    ur_device_handle_t device = on->device;
    const uint8_t *data = (const uint8_t *)native.data;
    return urProgramCreateWithBinary(on->context, 1, &device, &native.size, &data, NULL, &made->program) == 0
        && urProgramBuild(on->context, made->program, wanted->options) == 0
        && urKernelCreate(made->program, wanted->entry, &made->kernel) == 0;
}

static bytes native_binary(const module *of) {
    bytes native;
    size_t size = 0;
    CHECK(urProgramGetInfo, (of->program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof size, &size, NULL));
    native.size = size;
    native.data = allocate(size);
    CHECK(urProgramGetInfo, (of->program, UR_PROGRAM_INFO_BINARIES, sizeof native.data, &native.data, NULL));
    return native;
}

static void tell_properties(const target *on, const job *wanted, const module *of) {
    uint32_t arguments = 0, sub_group = 0, registers = 0, spill_bytes = 0;
    size_t work_group = 0, size = 0;
    char spill[64] = "not told", used[64] = "";
    CHECK(urKernelGetInfo, (of->kernel, UR_KERNEL_INFO_NUM_ARGS, sizeof arguments, &arguments, NULL));
    CHECK(urKernelGetGroupInfo,
          (of->kernel, on->device, UR_KERNEL_GROUP_INFO_WORK_GROUP_SIZE, sizeof work_group, &work_group, NULL));
    CHECK(urKernelGetSubGroupInfo,
          (of->kernel, on->device, UR_KERNEL_SUB_GROUP_INFO_MAX_SUB_GROUP_SIZE, sizeof sub_group, &sub_group, NULL));
    /* Only GPUs answer these two; releases differ in the size of the answer, always the low 32 bits. */
    if (urKernelGetInfo(of->kernel, UR_KERNEL_INFO_SPILL_MEM_SIZE, 0, NULL, &size) == 0
        && urKernelGetInfo(of->kernel, UR_KERNEL_INFO_SPILL_MEM_SIZE, sizeof spill_bytes, &spill_bytes, NULL) == 0)
        snprintf(spill, sizeof spill, "%u bytes", spill_bytes);
    if (urKernelGetInfo(of->kernel, UR_KERNEL_INFO_NUM_REGS, sizeof registers, &registers, NULL) == 0)
        snprintf(used, sizeof used, ", registers %u", registers);
    if (arguments != wanted->argument_count)
        fail("urKernelGetInfo", 0, "the kernel takes %u arguments, not %u", arguments, wanted->argument_count);
    if (work_group < wanted->work_group)
        fail("urKernelGetGroupInfo", 0, "the device allows work-groups of %zu, the kernel needs %zu",
             work_group, wanted->work_group);
    done("spill %s, sub-group %u, work-group up to %zu, arguments %u%s",
         spill, sub_group, work_group, arguments, used);
}

#if SMOKE_RELEASE >= 20260000
static void launch(const target *on, const job *wanted, const module *of, void *const *buffers) {
    ur_exp_kernel_arg_properties_t values[MAX_ARGUMENTS];
    size_t global[3] = {wanted->grid[0] * wanted->work_group, wanted->grid[1], wanted->grid[2]};
    size_t local[3] = {wanted->work_group, 1, 1};
    memset(values, 0, sizeof values);
    for (unsigned i = 0; i < wanted->argument_count; i++) {
        const argument *given = &wanted->arguments[i];
        values[i].stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES;
        values[i].index = i;
        if (given->kind == POINTER) {
            values[i].type = UR_EXP_KERNEL_ARG_TYPE_POINTER;
            values[i].size = sizeof(void *);
            values[i].value.pointer = (char *)buffers[given->buffer] + given->offset;
        } else if (given->kind == INTEGER) {
            values[i].type = UR_EXP_KERNEL_ARG_TYPE_VALUE;
            values[i].size = sizeof given->integer;
            values[i].value.value = &given->integer;
        } else {
            values[i].type = UR_EXP_KERNEL_ARG_TYPE_LOCAL;
            values[i].size = given->size;
        }
    }
    CHECK(urEnqueueKernelLaunchWithArgsExp,
          (on->queue, of->kernel, 3, NULL, global, local, wanted->argument_count, values, NULL, 0, NULL, NULL));
    CHECK(urQueueFinish, (on->queue));
}
#else
static void launch(const target *on, const job *wanted, const module *of, void *const *buffers) {
    size_t global[3] = {wanted->grid[0] * wanted->work_group, wanted->grid[1], wanted->grid[2]};
    size_t local[3] = {wanted->work_group, 1, 1};
    for (unsigned i = 0; i < wanted->argument_count; i++) {
        const argument *given = &wanted->arguments[i];
        if (given->kind == POINTER)
            CHECK(urKernelSetArgPointer, (of->kernel, i, NULL, (char *)buffers[given->buffer] + given->offset));
        else if (given->kind == INTEGER)
            CHECK(urKernelSetArgValue, (of->kernel, i, sizeof given->integer, NULL, &given->integer));
        else
            CHECK(urKernelSetArgLocal, (of->kernel, i, given->size, NULL));
    }
#if SMOKE_RELEASE >= 20250300
    CHECK(urEnqueueKernelLaunch, (on->queue, of->kernel, 3, NULL, global, local, 0, NULL, 0, NULL, NULL));
#else
    CHECK(urEnqueueKernelLaunch, (on->queue, of->kernel, 3, NULL, global, local, 0, NULL, NULL));
#endif
    CHECK(urQueueFinish, (on->queue));
}
#endif

#include "flow.h"
