/* SYCL on OpenCL, from an ordinary C++ compiler. */
#define SYCL_DISABLE_FSYCL_SYCLHPP_WARNING
#include <optional>
#include <string>
#include <sycl/sycl.hpp>

#include "channel.h"

#include "opencl_layer.h"

constexpr auto NATIVE = sycl::backend::opencl;

#include "sycl_layer.h"

static cl_program program;

static void keep_native(const sycl::kernel_bundle<sycl::bundle_state::executable> &built) {
    program = sycl::get_native<NATIVE>(built).at(0);
}

static bool build_native(bytes content, bool native) {
    cl_int result;
    cl_context context = sycl::get_native<NATIVE>(queue->get_context());
    cl_device_id device = sycl::get_native<NATIVE>(queue->get_device());
    program = cl_build(context, device, content, native, build_log, sizeof build_log);
    if (!program) return false;
    cl_kernel made = clCreateKernel(program, entry, &result);
    if (result != CL_SUCCESS) return false;
    kernel = sycl::make_kernel<NATIVE>(made, queue->get_context());
    return true;
}

static bytes native_binary(void) {
    return cl_native_binary(program);
}

static bool hold(void) {
    return cl_hold(sycl::get_native<NATIVE>(*queue));
}

static void let_go(void) {
    cl_let_go();
}
