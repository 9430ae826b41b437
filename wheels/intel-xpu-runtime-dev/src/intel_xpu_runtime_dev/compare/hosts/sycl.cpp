/* SYCL from an ordinary C++ compiler: `compiler` takes the kernel compiler extension, `interop` an OpenCL program. */
#define SYCL_DISABLE_FSYCL_SYCLHPP_WARNING
#include <optional>
#include <string>
#include <sycl/sycl.hpp>

#include "channel.h"

#include "opencl_layer.h"

#define BACKEND "sycl"
#include "layer.h"

namespace syclex = sycl::ext::oneapi::experimental;
constexpr auto OPENCL = sycl::backend::opencl;

static std::optional<sycl::queue> queue;
static std::optional<sycl::kernel> kernel;
static cl_program program;
static bool by_extension;

static const char *open_layer(const char *adapter) {
    static std::string name;
    by_extension = strcmp(adapter, "compiler") == 0;
    queue.emplace(sycl::property::queue::in_order{});
    name = queue->get_device().get_info<sycl::info::device::name>();
    if (queue->get_backend() != OPENCL) fail("sycl::queue", 0, "this host asks for an OpenCL device");
    return name.c_str();
}

static void build_by_extension(bytes content) {
    const std::byte *data = (const std::byte *)content.data;
    std::string log;
    auto source = syclex::create_kernel_bundle_from_source(queue->get_context(), syclex::source_language::spirv,
                                                           std::vector<std::byte>(data, data + content.size));
    try {
        auto built = syclex::build(source, syclex::properties{syclex::save_log{&log}});
        kernel = built.ext_oneapi_get_kernel(ENTRY);
        program = sycl::get_native<OPENCL>(built).at(0);
    } catch (const sycl::exception &) {
        snprintf(build_log, sizeof build_log, "%s", log.c_str());
        throw;
    }
}

static bool build(bytes content, bool native) {
    build_log[0] = 0;
    if (by_extension && !native) {
        try {
            build_by_extension(content);
            return true;
        } catch (const sycl::exception &) {
            return false;
        }
    }
    /* The extension takes no native binary: the way in is an OpenCL program for both. */
    cl_int result;
    cl_context context = sycl::get_native<OPENCL>(queue->get_context());
    cl_device_id device = sycl::get_native<OPENCL>(queue->get_device());
    program = cl_build(context, device, content, native, build_log, sizeof build_log);
    if (!program) return false;
    cl_kernel made = clCreateKernel(program, ENTRY, &result);
    if (result != CL_SUCCESS) return false;
    kernel = sycl::make_kernel<OPENCL>(made, queue->get_context());
    return true;
}

static bytes native_binary(void) {
    return cl_native_binary(program);
}

static void tell_kernel(void) {
    namespace about = sycl::info::kernel_device_specific;
    auto device = queue->get_device();
    try {
        size_t spill = kernel->get_info<sycl::ext::intel::info::kernel_device_specific::spill_memory_size>(device);
        answer("spill", true, "%zu bytes", spill);
    } catch (const sycl::exception &error) {
        answer("spill", false, "spill_memory_size: %s", error.what());
    }
    unsigned arguments = kernel->get_info<sycl::info::kernel::num_args>();
    size_t work_group = kernel->get_info<about::work_group_size>(device);
    answer("properties", arguments == 4 && work_group >= WORK_GROUP, "arguments %u, work-group up to %zu, sub-group %zu",
           arguments, work_group, (size_t)kernel->get_info<about::max_sub_group_size>(device));
}

static float *shared_memory(size_t size) {
    return (float *)sycl::malloc_shared(size, *queue);
}

static sycl::event enqueue(void) {
    return queue->submit([&](sycl::handler &group) {
        group.set_args(left, right, sum, elements);
        group.parallel_for(sycl::nd_range<1>(GROUPS * WORK_GROUP, WORK_GROUP), *kernel);
    });
}

static void submit(void) {
    enqueue();
}

static bool submit_with_event(void) {
    enqueue().wait();
    return true;
}

static void finish(void) {
    queue->wait();
}

static bool hold(void) {
    return cl_hold(sycl::get_native<OPENCL>(*queue));
}

static void let_go(void) {
    cl_let_go();
}

int main(int count, char **words) {
    try {
        return run(count, words);
    } catch (const std::exception &error) {
        fail("sycl", 0, "%s", error.what());
    }
}
