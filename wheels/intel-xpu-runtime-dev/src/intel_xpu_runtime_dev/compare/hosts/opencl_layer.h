/* OpenCL, as the plain OpenCL host uses it and as the others reach their native objects with it. */
#ifndef COMPARE_OPENCL_LAYER_H
#define COMPARE_OPENCL_LAYER_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

typedef cl_int (*set_pointer_function)(cl_kernel, cl_uint, const void *);
typedef void *(*shared_memory_function)(cl_context, cl_device_id, const void *, size_t, cl_uint, cl_int *);

static cl_event held;

/* Put a barrier into a queue that waits until cl_let_go(). */
static bool cl_hold(cl_command_queue queue) {
    cl_context context;
    cl_event barrier;
    cl_int result;
    CHECK(clGetCommandQueueInfo, (queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL));
    held = clCreateUserEvent(context, &result);
    if (result != CL_SUCCESS) fail("clCreateUserEvent", (unsigned)result, "%s", "");
    CHECK(clEnqueueBarrierWithWaitList, (queue, 1, &held, &barrier));
    CHECK(clReleaseEvent, (barrier));
    return true;
}

static void cl_let_go(void) {
    CHECK(clSetUserEventStatus, (held, CL_COMPLETE));
    CHECK(clReleaseEvent, (held));
}

static cl_platform_id cl_platform_of(cl_device_id device) {
    cl_platform_id platform;
    CHECK(clGetDeviceInfo, (device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL));
    return platform;
}

static set_pointer_function cl_set_pointer(cl_device_id device) {
    void *found = clGetExtensionFunctionAddressForPlatform(cl_platform_of(device), "clSetKernelArgMemPointerINTEL");
    if (!found) fail("clSetKernelArgMemPointerINTEL", 0, "the platform lacks cl_intel_unified_shared_memory");
    return (set_pointer_function)(uintptr_t)found;
}

/* Build a program; return NULL when the device refuses it, with what the compiler said in `log`. */
static cl_program cl_build(cl_context context, cl_device_id device, bytes content, bool native, char *log, size_t size) {
    const unsigned char *data = (const unsigned char *)content.data;
    cl_int result, status = CL_SUCCESS;
    cl_program program = native
        ? clCreateProgramWithBinary(context, 1, &device, &content.size, &data, &status, &result)
        : clCreateProgramWithIL(context, content.data, content.size, &result);
    log[0] = 0;
    if (result == CL_SUCCESS) result = clBuildProgram(program, 1, &device, "", NULL, NULL);
    else program = NULL;
    if (result == CL_SUCCESS) return program;
    if (program) clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    return NULL;
}

static bytes cl_native_binary(cl_program program) {
    bytes native;
    CHECK(clGetProgramInfo, (program, CL_PROGRAM_BINARY_SIZES, sizeof native.size, &native.size, NULL));
    native.data = allocate(native.size);
    CHECK(clGetProgramInfo, (program, CL_PROGRAM_BINARIES, sizeof native.data, &native.data, NULL));
    return native;
}

#endif
