/* The double's device: it checks handles and structure types, keeps SPIR-V, counts arguments, and executes nothing.
 *
 * Included once by the source that generate.py writes. A function double_NAME is what becomes of a call of NAME.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "../faults.h"

#define MAX_OBJECTS 256
#define NATIVE_MAGIC "double's native binary\n"
#define REQUIRE(condition) \
    if (!(condition)) return ZE_RESULT_ERROR_INVALID_ARGUMENT

/* Whatever a handle stands for; its address is the handle. */
typedef struct {
    const char *kind;
    unsigned number;
    bool live;
    char *content; /* of a module its SPIR-V, of an allocation its memory */
    size_t size;
    const uint32_t *entry_point; /* of a kernel, inside its module */
    void *pointers[32];          /* of a kernel: the pointer arguments set so far, in order of their index */
} object;

static object objects[MAX_OBJECTS];
static unsigned object_count;
static FILE *log_file;
static bool first_argument;

static object *create(const char *kind) {
    unsigned number = 1;
    if (object_count == MAX_OBJECTS) abort();
    for (unsigned i = 0; i < object_count; i++) number += strcmp(objects[i].kind, kind) == 0;
    object *made = &objects[object_count++];
    made->kind = kind;
    made->number = number;
    made->live = true;
    return made;
}

/* Return what a live handle of a kind stands for, else NULL. */
static object *live(const void *handle, const char *kind) {
    for (unsigned i = 0; i < object_count; i++)
        if (handle == &objects[i] && objects[i].live && strcmp(objects[i].kind, kind) == 0) return &objects[i];
    return NULL;
}

/* Drivers and devices are there from the start; return the number-th of a kind. */
static object *existing(const char *kind, unsigned number) {
    for (unsigned i = 0; i < object_count; i++)
        if (strcmp(objects[i].kind, kind) == 0 && objects[i].number == number) return &objects[i];
    object *made = create(kind);
    made->number = number;
    return made;
}

static void record(const char *format, ...) {
    va_list values;
    if (!log_file) log_file = fopen(setting("ZE_DOUBLE_LOG", "ze_loader_double.log"), "a");
    if (!log_file) abort();
    va_start(values, format);
    vfprintf(log_file, format, values);
    va_end(values);
    fflush(log_file);
}

static void begin_call(const char *name) {
    record("{\"call\": \"%s\", \"arguments\": [", name);
    first_argument = true;
}

static void separate(void) {
    record(first_argument ? "" : ", ");
    first_argument = false;
}

static void record_text(const char *text) {
    separate();
    record("\"%s\"", text);
}

static void record_integer(long long value) {
    separate();
    record("%lld", value);
}

static void record_pointer(const void *pointer) {
    separate();
    for (unsigned i = 0; i < object_count; i++)
        if (pointer == &objects[i]) {
            record("\"%s%s %u\"", objects[i].live ? "" : "dead ", objects[i].kind, objects[i].number);
            return;
        }
    record(pointer ? "\"pointer\"" : "null");
}

static void record_string(const char *text) {
    /* An output buffer may be declared as text: only what is given is recorded as such. */
    if (text) record_text(text);
    else record_pointer(NULL);
}

static void end_call(void) {
    record("]}\n");
}

static void note_integer(const char *name, long long value) {
    record("{\"%s\": %lld}\n", name, value);
}

static void note_text(const char *name, const char *value) {
    record("{\"%s\": \"%s\"}\n", name, value ? value : "");
}

/* Fill a caller's array of handles, as all the functions that count do. */
static ze_result_t enumerate(const char *kind, unsigned available, uint32_t *count, void **handles) {
    REQUIRE(count);
    if (handles)
        for (unsigned i = 0; i < *count && i < available; i++) handles[i] = existing(kind, i + 1);
    if (!handles || *count > available) *count = available;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t destroy(const void *handle, const char *kind) {
    object *found = live(handle, kind);
    REQUIRE(found);
    found->live = false;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeInit(ze_init_flags_t flags) {
    (void)flags;
    return atoi(setting("ZE_DOUBLE_DRIVERS", "1")) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

static ze_result_t double_zelLoaderGetVersions(size_t *count, zel_component_version_t *versions) {
    REQUIRE(count);
    if (versions && *count) {
        zel_version_t *version = &versions[0].component_lib_version;
        memset(&versions[0], 0, sizeof versions[0]);
        strcpy(versions[0].component_name, "loader");
        versions[0].spec_version = ZE_API_VERSION_CURRENT;
        sscanf(setting("ZE_DOUBLE_VERSION", "0.0.0"), "%d.%d.%d", &version->major, &version->minor, &version->patch);
    }
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
    return enumerate("driver", (unsigned)atoi(setting("ZE_DOUBLE_DRIVERS", "1")), count, (void **)drivers);
}

static ze_result_t double_zeDriverGetProperties(ze_driver_handle_t driver, ze_driver_properties_t *about) {
    REQUIRE(live(driver, "driver") && about && about->stype == ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
    about->driverVersion = 0xd0b1e;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices) {
    REQUIRE(live(driver, "driver"));
    return enumerate("device", (unsigned)atoi(setting("ZE_DOUBLE_DEVICES", "1")), count, (void **)devices);
}

static ze_result_t double_zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *about) {
    REQUIRE(live(device, "device") && about && about->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    about->type = ZE_DEVICE_TYPE_GPU;
    strcpy(about->name, "Test double, not a device");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeDeviceGetComputeProperties(ze_device_handle_t device,
                                                       ze_device_compute_properties_t *about) {
    REQUIRE(live(device, "device") && about && about->stype == ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
    about->maxTotalGroupSize = about->maxGroupSizeX = 1024;
    about->maxSharedLocalMemory = 128 * 1024;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count,
                                                      ze_device_memory_properties_t *memories) {
    REQUIRE(live(device, "device") && count);
    REQUIRE(!memories || memories[0].stype == ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeContextCreate(ze_driver_handle_t driver, const ze_context_desc_t *about,
                                          ze_context_handle_t *made) {
    REQUIRE(live(driver, "driver") && about && about->stype == ZE_STRUCTURE_TYPE_CONTEXT_DESC && made);
    *made = (ze_context_handle_t)create("context");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeContextDestroy(ze_context_handle_t context) {
    return destroy(context, "context");
}

static ze_result_t double_zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device,
                                                       const ze_command_queue_desc_t *about,
                                                       ze_command_list_handle_t *made) {
    REQUIRE(live(context, "context") && live(device, "device") && made);
    REQUIRE(about && about->stype == ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
    note_integer("mode", about->mode);
    *made = (ze_command_list_handle_t)create("list");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeCommandListDestroy(ze_command_list_handle_t list) {
    return destroy(list, "list");
}

/* Return the next instruction of a module's SPIR-V with an opcode, from `at` on (NULL: from the start). */
static const uint32_t *instruction(const object *module, const uint32_t *at, unsigned opcode) {
    const uint32_t *end = (const uint32_t *)(module->content + module->size);
    at = at ? at + (*at >> 16) : (const uint32_t *)module->content + 5;
    while (at < end && (*at >> 16) && (*at & 0xffff) != opcode) at += *at >> 16;
    return at < end && (*at >> 16) ? at : NULL;
}

enum { OP_ENTRY_POINT = 15, OP_EXECUTION_MODE = 16, OP_FUNCTION = 54, OP_FUNCTION_PARAMETER = 55, MODE_SUBGROUP_SIZE = 35 };

static ze_result_t double_zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
                                         const ze_module_desc_t *about, ze_module_handle_t *made,
                                         ze_module_build_log_handle_t *build_log) {
    REQUIRE(live(context, "context") && live(device, "device") && made);
    REQUIRE(about && about->stype == ZE_STRUCTURE_TYPE_MODULE_DESC && about->pInputModule);
    note_integer("format", about->format);
    note_integer("size", (long long)about->inputSize);
    note_text("build_flags", about->pBuildFlags);
    if (build_log) *build_log = (ze_module_build_log_handle_t)create("build log");
    const char *input = (const char *)about->pInputModule;
    size_t size = about->inputSize, skip = 0;
    if (about->format == ZE_MODULE_FORMAT_NATIVE) {
        skip = sizeof NATIVE_MAGIC - 1;
        if (size < skip || memcmp(input, NATIVE_MAGIC, skip) != 0) return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    }
    uint32_t magic = 0;
    if (size - skip >= 20) memcpy(&magic, input + skip, 4);
    if (magic != 0x07230203) return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    object *module = create("module");
    module->size = size - skip;
    module->content = (char *)malloc(module->size);
    memcpy(module->content, input + skip, module->size);
    *made = (ze_module_handle_t)module;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeModuleDestroy(ze_module_handle_t module) {
    return destroy(module, "module");
}

static ze_result_t double_zeModuleBuildLogGetString(ze_module_build_log_handle_t build_log, size_t *size, char *text) {
    static const char content[] = "the double builds nothing";
    REQUIRE(live(build_log, "build log") && size);
    if (text) memcpy(text, content, *size < sizeof content ? *size : sizeof content);
    *size = sizeof content;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeModuleBuildLogDestroy(ze_module_build_log_handle_t build_log) {
    return destroy(build_log, "build log");
}

static ze_result_t double_zeModuleGetKernelNames(ze_module_handle_t handle, uint32_t *count, const char **names) {
    object *module = live(handle, "module");
    uint32_t found = 0;
    REQUIRE(module && count);
    for (const uint32_t *at = NULL; (at = instruction(module, at, OP_ENTRY_POINT)); found++)
        if (names && found < *count) names[found] = (const char *)(at + 3);
    *count = found;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeModuleGetNativeBinary(ze_module_handle_t handle, size_t *size, uint8_t *binary) {
    object *module = live(handle, "module");
    size_t skip = sizeof NATIVE_MAGIC - 1;
    REQUIRE(module && size);
    if (binary) {
        REQUIRE(*size >= skip + module->size);
        memcpy(binary, NATIVE_MAGIC, skip);
        memcpy(binary + skip, module->content, module->size);
    }
    *size = skip + module->size;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeKernelCreate(ze_module_handle_t handle, const ze_kernel_desc_t *about,
                                         ze_kernel_handle_t *made) {
    object *module = live(handle, "module");
    REQUIRE(module && about && about->stype == ZE_STRUCTURE_TYPE_KERNEL_DESC && about->pKernelName && made);
    note_text("kernel", about->pKernelName);
    for (const uint32_t *at = NULL; (at = instruction(module, at, OP_ENTRY_POINT));)
        if (strcmp((const char *)(at + 3), about->pKernelName) == 0) {
            object *kernel = create("kernel");
            kernel->entry_point = at;
            kernel->content = (char *)module;
            *made = (ze_kernel_handle_t)kernel;
            return ZE_RESULT_SUCCESS;
        }
    return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
}

static ze_result_t double_zeKernelDestroy(ze_kernel_handle_t kernel) {
    return destroy(kernel, "kernel");
}

static ze_result_t double_zeKernelGetProperties(ze_kernel_handle_t handle, ze_kernel_properties_t *about) {
    object *kernel = live(handle, "kernel");
    REQUIRE(kernel && about && about->stype == ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
    const object *module = (const object *)kernel->content;
    uint32_t id = kernel->entry_point[2];
    const uint32_t *at = NULL;
    while ((at = instruction(module, at, OP_FUNCTION)) && at[2] != id) {}
    REQUIRE(at);
    about->numKernelArgs = 0;
    for (at += *at >> 16; (*at & 0xffff) == OP_FUNCTION_PARAMETER; at += *at >> 16) about->numKernelArgs++;
    for (at = NULL; (at = instruction(module, at, OP_EXECUTION_MODE));)
        if (at[1] == id && at[2] == MODE_SUBGROUP_SIZE) about->maxSubgroupSize = at[3];
    about->spillMemSize = (uint32_t)strtoul(setting("ZE_DOUBLE_SPILL", "0"), NULL, 10);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *device_about,
                                           const ze_host_mem_alloc_desc_t *host_about, size_t size, size_t alignment,
                                           ze_device_handle_t device, void **memory) {
    REQUIRE(live(context, "context") && live(device, "device") && memory && alignment <= 64);
    REQUIRE(device_about && device_about->stype == ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
    REQUIRE(host_about && host_about->stype == ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    object *made = create("allocation");
    char *block = (char *)calloc(1, size + 64);
    made->size = size;
    made->content = block + 64 - (uintptr_t)block % 64;
    *memory = made->content;
    return ZE_RESULT_SUCCESS;
}

/* Return the live allocation that an address lies in, else NULL. */
static object *allocation_at(const void *address) {
    for (unsigned i = 0; i < object_count; i++) {
        object *one = &objects[i];
        if (one->live && strcmp(one->kind, "allocation") == 0 && (const char *)address >= one->content
            && (const char *)address < one->content + one->size)
            return one;
    }
    return NULL;
}

static ze_result_t double_zeMemGetAllocProperties(ze_context_handle_t context, const void *memory,
                                                  ze_memory_allocation_properties_t *about, ze_device_handle_t *device) {
    REQUIRE(live(context, "context") && about);
    REQUIRE(about->stype == ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
    about->type = allocation_at(memory) ? ZE_MEMORY_TYPE_SHARED : ZE_MEMORY_TYPE_UNKNOWN;
    if (device) *device = NULL;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeMemFree(ze_context_handle_t context, void *memory) {
    object *found = allocation_at(memory);
    REQUIRE(live(context, "context") && found && memory == found->content);
    note_integer("allocation", found->number);
    found->live = false;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeKernelSetGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z) {
    REQUIRE(live(kernel, "kernel") && x && y && z);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeKernelSetArgumentValue(ze_kernel_handle_t handle, uint32_t index, size_t size,
                                                   const void *value) {
    object *kernel = live(handle, "kernel");
    REQUIRE(kernel && index < sizeof kernel->pointers / sizeof *kernel->pointers);
    if (value && size == 4) {
        int32_t integer;
        memcpy(&integer, value, sizeof integer);
        note_integer("integer", integer);
    } else if (value && size == sizeof(void *)) {
        char *address;
        memcpy(&address, value, sizeof address);
        object *into = allocation_at(address);
        REQUIRE(into);
        kernel->pointers[index] = address;
        note_integer("allocation", into->number);
        note_integer("offset", address - into->content);
    } else
        REQUIRE(!value); /* work-group-local memory has a size only */
    return ZE_RESULT_SUCCESS;
}

static ze_result_t double_zeCommandListAppendLaunchKernel(ze_command_list_handle_t list, ze_kernel_handle_t handle,
                                                          const ze_group_count_t *groups, ze_event_handle_t signal,
                                                          uint32_t wait_count, ze_event_handle_t *waits) {
    object *kernel = live(handle, "kernel");
    REQUIRE(live(list, "list") && kernel && groups && !signal && !wait_count && !waits);
    note_integer("x", groups->groupCountX);
    note_integer("y", groups->groupCountY);
    note_integer("z", groups->groupCountZ);
    int scribble = atoi(setting("ZE_DOUBLE_SCRIBBLE", "-1"));
    if (scribble >= 0 && kernel->pointers[scribble]) *(float *)kernel->pointers[scribble] = 1.0f;
    return ZE_RESULT_SUCCESS;
}
