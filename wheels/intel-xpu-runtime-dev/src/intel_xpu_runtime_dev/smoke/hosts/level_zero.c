/* Level Zero's part of the compiled host: the fifteen functions that Triton calls, and what a launch needs besides.
 *
 * Compiles as C and as C++.
 */
#include "channel.h"

#include <level_zero/loader/ze_loader.h>
#include <level_zero/ze_api.h>

#define BACKEND "level-zero"

static ze_driver_handle_t drivers[MAX_DEVICES];
static ze_device_handle_t devices[MAX_DEVICES];
static unsigned device_count;

typedef struct {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
} target;

typedef struct {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
} module;

typedef ze_result_t(ZE_APICALL *get_versions_function)(size_t *, zel_component_version_t *);

/* Return a function that old loaders lack, or NULL. */
static void *optional_function(const char *name) {
#ifdef _WIN32
    HMODULE library = GetModuleHandleA(QUOTED(SMOKE_LIBRARY) ".dll");
    return library ? (void *)(uintptr_t)GetProcAddress(library, name) : NULL;
#else
    return dlsym(RTLD_DEFAULT, name);
#endif
}

static void load(void) {
    done("%s", loader_path("zeInit"));
}

/* Return what the loader, once initialised, tells of its version. */
static const char *loader_version(void) {
    static char version[64] = "version not told";
    get_versions_function get_versions = (get_versions_function)(uintptr_t)optional_function("zelLoaderGetVersions");
    size_t count = 0;
    if (!get_versions || get_versions(&count, NULL) != ZE_RESULT_SUCCESS) return version;
    zel_component_version_t *parts = (zel_component_version_t *)allocate(count * sizeof *parts);
    CHECK(get_versions, (&count, parts));
    for (size_t i = 0; i < count; i++)
        if (strcmp(parts[i].component_name, "loader") == 0) {
            zel_version_t found = parts[i].component_lib_version;
            snprintf(version, sizeof version, "%d.%d.%d", found.major, found.minor, found.patch);
        }
    return version;
}

static void tell_device(unsigned index) {
    ze_device_properties_t about;
    ze_driver_properties_t driver;
    memset(&about, 0, sizeof about);
    memset(&driver, 0, sizeof driver);
    about.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    driver.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
    CHECK(zeDeviceGetProperties, (devices[index], &about));
    CHECK(zeDriverGetProperties, (drivers[index], &driver));
    const char *kind = about.type == ZE_DEVICE_TYPE_CPU ? "cpu" : about.type == ZE_DEVICE_TYPE_GPU ? "gpu" : "other";
    say("device\tindex=%u\ttype=%s\tname=%s\tdriver=0x%x", index, kind, one_line(about.name), driver.driverVersion);
}

static void list_devices(void) {
    uint32_t driver_count = 0;
    ze_result_t result = zeInit(0);
    /* What a loader says that finds no driver, or a driver that finds no device. */
    if (result == ZE_RESULT_ERROR_UNINITIALIZED) {
        done("loader %s, no driver: zeInit gives 0x%x", loader_version(), (unsigned)result);
        return;
    }
    if (result != ZE_RESULT_SUCCESS) fail("zeInit", (unsigned)result, "%s", "");
    CHECK(zeDriverGet, (&driver_count, NULL));
    ze_driver_handle_t *found = (ze_driver_handle_t *)allocate(driver_count * sizeof *found);
    if (driver_count) CHECK(zeDriverGet, (&driver_count, found));
    for (uint32_t d = 0; d < driver_count; d++) {
        uint32_t count = 0;
        CHECK(zeDeviceGet, (found[d], &count, NULL));
        if (device_count + count > MAX_DEVICES) fail("zeDeviceGet", 0, "more than %d devices", MAX_DEVICES);
        if (count) CHECK(zeDeviceGet, (found[d], &count, devices + device_count));
        for (uint32_t i = 0; i < count; i++) drivers[device_count++] = found[d];
    }
    for (unsigned d = 0; d < device_count; d++) tell_device(d);
    done("loader %s, %u drivers, %u devices", loader_version(), driver_count, device_count);
}

/* Ask what Triton asks of a device before it compiles for it. */
static void check_limits(const target *on, const job *wanted) {
    ze_device_compute_properties_t compute;
    memset(&compute, 0, sizeof compute);
    compute.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES;
    CHECK(zeDeviceGetComputeProperties, (on->device, &compute));
    uint32_t memories = 0;
    CHECK(zeDeviceGetMemoryProperties, (on->device, &memories, NULL));
    ze_device_memory_properties_t *memory = (ze_device_memory_properties_t *)allocate(memories * sizeof *memory);
    for (uint32_t i = 0; i < memories; i++) memory[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    if (memories) CHECK(zeDeviceGetMemoryProperties, (on->device, &memories, memory));
    if (compute.maxTotalGroupSize < wanted->work_group)
        fail("zeDeviceGetComputeProperties", 0, "the device allows work-groups of %u, the kernel needs %zu",
             compute.maxTotalGroupSize, wanted->work_group);
}

static ze_result_t create_module(const target *on, const job *wanted, ze_module_format_t format, bytes content,
                                 ze_module_handle_t *made, ze_module_build_log_handle_t *log) {
    ze_module_desc_t about;
    memset(&about, 0, sizeof about);
    about.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    about.format = format;
    about.inputSize = content.size;
    about.pInputModule = (const uint8_t *)content.data;
    about.pBuildFlags = wanted->options;
    return zeModuleCreate(on->context, on->device, &about, made, log);
}

static ze_result_t create_kernel(const job *wanted, module *of) {
    ze_kernel_desc_t about;
    memset(&about, 0, sizeof about);
    about.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
    about.pKernelName = wanted->entry;
    return zeKernelCreate(of->module, &about, &of->kernel);
}

static module from_spirv(const target *on, const job *wanted) {
    module made;
    ze_module_build_log_handle_t log = NULL;
    ze_result_t result =
        create_module(on, wanted, ZE_MODULE_FORMAT_IL_SPIRV, read_file(wanted->spirv), &made.module, &log);
    size_t size = 0;
    char *text = (char *)"";
    if (log && zeModuleBuildLogGetString(log, &size, NULL) == ZE_RESULT_SUCCESS && size) {
        text = (char *)allocate(size + 1);
        zeModuleBuildLogGetString(log, &size, text);
    }
    if (result != ZE_RESULT_SUCCESS) fail("zeModuleCreate", (unsigned)result, "%s", text);
    if (log) CHECK(zeModuleBuildLogDestroy, (log));
    uint32_t kernels = 0;
    CHECK(zeModuleGetKernelNames, (made.module, &kernels, NULL));
    const char **names = (const char **)allocate(kernels * sizeof *names);
    CHECK(zeModuleGetKernelNames, (made.module, &kernels, names));
    bool present = false;
    for (uint32_t i = 0; i < kernels; i++) present = present || strcmp(names[i], wanted->entry) == 0;
    if (!present) fail("zeModuleGetKernelNames", 0, "%u kernels, none is %s", kernels, wanted->entry);
    result = create_kernel(wanted, &made);
    if (result != ZE_RESULT_SUCCESS) fail("zeKernelCreate", (unsigned)result, "%s", wanted->entry);
    return made;
}

/* Make the module of a native binary; return false when the driver does not take it. */
static bool from_native(const target *on, const job *wanted, bytes native, module *made) {
    return create_module(on, wanted, ZE_MODULE_FORMAT_NATIVE, native, &made->module, NULL) == ZE_RESULT_SUCCESS
        && create_kernel(wanted, made) == ZE_RESULT_SUCCESS;
}

static bytes native_binary(const module *of) {
    bytes native;
    CHECK(zeModuleGetNativeBinary, (of->module, &native.size, NULL));
    native.data = allocate(native.size);
    CHECK(zeModuleGetNativeBinary, (of->module, &native.size, (uint8_t *)native.data));
    return native;
}

static void tell_properties(const target *on, const job *wanted, const module *of) {
    ze_kernel_properties_t about;
    (void)on;
    memset(&about, 0, sizeof about);
    about.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    CHECK(zeKernelGetProperties, (of->kernel, &about));
    if (about.numKernelArgs != wanted->argument_count)
        fail("zeKernelGetProperties", 0, "the kernel takes %u arguments, not %u",
             about.numKernelArgs, wanted->argument_count);
    done("spill %u bytes, sub-group %u, private memory %u bytes, local memory %u bytes, arguments %u",
         about.spillMemSize, about.maxSubgroupSize, about.privateMemSize, about.localMemSize, about.numKernelArgs);
}

static void launch(const target *on, const job *wanted, const module *of, void *const *buffers) {
    ze_group_count_t groups;
    CHECK(zeKernelSetGroupSize, (of->kernel, (uint32_t)wanted->work_group, 1, 1));
    for (unsigned i = 0; i < wanted->argument_count; i++) {
        const argument *given = &wanted->arguments[i];
        if (given->kind == POINTER) {
            void *pointer = (char *)buffers[given->buffer] + given->offset;
            CHECK(zeKernelSetArgumentValue, (of->kernel, i, sizeof pointer, &pointer));
        } else if (given->kind == INTEGER)
            CHECK(zeKernelSetArgumentValue, (of->kernel, i, sizeof given->integer, &given->integer));
        else
            CHECK(zeKernelSetArgumentValue, (of->kernel, i, given->size, NULL));
    }
    groups.groupCountX = (uint32_t)wanted->grid[0];
    groups.groupCountY = (uint32_t)wanted->grid[1];
    groups.groupCountZ = (uint32_t)wanted->grid[2];
    /* The command list is immediate and synchronous: the call returns when the kernel has run. */
    CHECK(zeCommandListAppendLaunchKernel, (on->list, of->kernel, &groups, NULL, 0, NULL));
}

static void open_device(target *on, const job *wanted) {
    ze_context_desc_t context;
    ze_command_queue_desc_t queue;
    if (wanted->device >= device_count) fail("job", 0, "no device %u", wanted->device);
    on->device = devices[wanted->device];
    memset(&context, 0, sizeof context);
    memset(&queue, 0, sizeof queue);
    context.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
    queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    CHECK(zeContextCreate, (drivers[wanted->device], &context, &on->context));
    CHECK(zeCommandListCreateImmediate, (on->context, on->device, &queue, &on->list));
    check_limits(on, wanted);
}

static void close_device(const target *on) {
    CHECK(zeCommandListDestroy, (on->list));
    CHECK(zeContextDestroy, (on->context));
}

static void release_module(const module *of) {
    CHECK(zeKernelDestroy, (of->kernel));
    CHECK(zeModuleDestroy, (of->module));
}

static void *shared_memory(const target *on, size_t size) {
    ze_device_mem_alloc_desc_t device;
    ze_host_mem_alloc_desc_t host;
    ze_memory_allocation_properties_t about;
    void *memory = NULL;
    memset(&device, 0, sizeof device);
    memset(&host, 0, sizeof host);
    memset(&about, 0, sizeof about);
    device.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
    host.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
    about.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    CHECK(zeMemAllocShared, (on->context, &device, &host, size, 64, on->device, &memory));
    CHECK(zeMemGetAllocProperties, (on->context, memory, &about, NULL));
    if (about.type != ZE_MEMORY_TYPE_SHARED) fail("zeMemGetAllocProperties", 0, "type %d, not shared", (int)about.type);
    return memory;
}

static void free_memory(const target *on, void *memory) {
    CHECK(zeMemFree, (on->context, memory));
}

#include "flow.h"
