/* Plain OpenCL: the baseline. */
#include "channel.h"

#include "opencl_layer.h"

#define BACKEND "opencl"
#include "layer.h"

#ifndef CL_KERNEL_SPILL_MEM_SIZE_INTEL
#define CL_KERNEL_SPILL_MEM_SIZE_INTEL 0x4109
#endif

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel kernel;
static set_pointer_function set_pointer;

static const char *open_layer(const char *adapter) {
    static char name[256];
    cl_platform_id platforms[16];
    cl_uint count = 0;
    cl_int result = clGetPlatformIDs(16, platforms, &count);
    (void)adapter;
    /* -1001: the loader knows of no platform. */
    if (result != CL_SUCCESS && result != -1001) fail("clGetPlatformIDs", (unsigned)result, "%s", "");
    if (result != CL_SUCCESS) count = 0;
    if (count > 16) count = 16;
    for (cl_uint p = 0; p < count && !device; p++) clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    if (!device) fail("clGetDeviceIDs", 0, "%u OpenCL platforms, no device", count);
    CHECK(clGetDeviceInfo, (device, CL_DEVICE_NAME, sizeof name - 1, name, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
    if (result != CL_SUCCESS) fail("clCreateContext", (unsigned)result, "%s", "");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &result);
    if (result != CL_SUCCESS) fail("clCreateCommandQueueWithProperties", (unsigned)result, "%s", "");
    set_pointer = cl_set_pointer(device);
    return name;
}

static bool build(bytes content, bool native) {
    cl_int result;
    program = cl_build(context, device, content, native, build_log, sizeof build_log);
    if (!program) return false;
    kernel = clCreateKernel(program, entry, &result);
    return result == CL_SUCCESS;
}

static bytes native_binary(void) {
    return cl_native_binary(program);
}

static void tell_spill(void) {
    cl_ulong spill = 0;
    cl_int result =
        clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_SPILL_MEM_SIZE_INTEL, sizeof spill, &spill, NULL);
    if (result == CL_SUCCESS) answer("spill", true, "%llu bytes", (unsigned long long)spill);
    else answer("spill", false, "CL_KERNEL_SPILL_MEM_SIZE_INTEL gives %d", result);
}

static void tell_properties(void) {
    cl_ulong private_memory = 0;
    size_t work_group = 0;
    cl_uint arguments = 0;
    CHECK(clGetKernelWorkGroupInfo, (kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof work_group, &work_group, NULL));
    CHECK(clGetKernelWorkGroupInfo,
          (kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private_memory, &private_memory, NULL));
    CHECK(clGetKernelInfo, (kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL));
    answer("properties", arguments == 4 && work_group >= WORK_GROUP, "arguments %u, work-group up to %zu, private memory %llu bytes",
           arguments, work_group, (unsigned long long)private_memory);
}

static float *shared_memory(size_t size) {
    cl_int result = CL_SUCCESS;
    shared_memory_function allocate_shared = (shared_memory_function)(uintptr_t)
        clGetExtensionFunctionAddressForPlatform(cl_platform_of(device), "clSharedMemAllocINTEL");
    void *memory = allocate_shared(context, device, NULL, size, 0, &result);
    if (!memory) fail("clSharedMemAllocINTEL", (unsigned)result, "%s", "");
    return (float *)memory;
}

static void enqueue(cl_event *event) {
    const size_t global = GROUPS * WORK_GROUP, local = WORK_GROUP;
    CHECK(set_pointer, (kernel, 0, left));
    CHECK(set_pointer, (kernel, 1, right));
    CHECK(set_pointer, (kernel, 2, sum));
    CHECK(clSetKernelArg, (kernel, 3, sizeof elements, &elements));
    CHECK(clEnqueueNDRangeKernel, (queue, kernel, 1, NULL, &global, &local, 0, NULL, event));
}

static void submit(void) {
    enqueue(NULL);
}

static bool submit_with_event(void) {
    cl_event event = NULL;
    enqueue(&event);
    return event && clReleaseEvent(event) == CL_SUCCESS;
}

static void finish(void) {
    CHECK(clFinish, (queue));
}

static bool hold(void) {
    return cl_hold(queue);
}

static void let_go(void) {
    cl_let_go();
}

int main(int count, char **words) {
    return run(count, words);
}
