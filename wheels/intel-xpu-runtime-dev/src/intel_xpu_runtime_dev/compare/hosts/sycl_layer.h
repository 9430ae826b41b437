/* What both SYCL hosts do, whatever backend is below; included by each before layer.h, its own part behind that.
 *
 * `compiler` takes the kernel compiler extension, `interop` a program of the backend. The including file defines NATIVE, the
 * backend, and the functions declared below.
 */
#ifndef COMPARE_SYCL_LAYER_H
#define COMPARE_SYCL_LAYER_H

#define BACKEND "sycl"
#include "layer.h"

namespace syclex = sycl::ext::oneapi::experimental;

static std::optional<sycl::queue> queue;
static std::optional<sycl::kernel> kernel;
static bool by_extension;

/* Build a program of the backend and make `kernel` of it; false when the device refuses. */
static bool build_native(bytes content, bool native);
/* Keep the backend's program of what the extension has built. */
static void keep_native(const sycl::kernel_bundle<sycl::bundle_state::executable> &built);

static const char *open_layer(const char *adapter) {
    static std::string name;
    by_extension = strcmp(adapter, "compiler") == 0;
    queue.emplace(sycl::property::queue::in_order{});
    name = queue->get_device().get_info<sycl::info::device::name>();
    if (queue->get_backend() != NATIVE) fail("sycl::queue", 0, "the device is not one of the backend asked for");
    return name.c_str();
}

static void build_by_extension(bytes content) {
    const std::byte *data = (const std::byte *)content.data;
    std::string log;
    auto source = syclex::create_kernel_bundle_from_source(queue->get_context(), syclex::source_language::spirv,
                                                           std::vector<std::byte>(data, data + content.size));
    try {
        auto built = syclex::build(source, syclex::properties{syclex::save_log{&log}});
        kernel = built.ext_oneapi_get_kernel(entry);
        keep_native(built);
    } catch (const sycl::exception &) {
        snprintf(build_log, sizeof build_log, "%s", log.c_str());
        throw;
    }
}

static bool build(bytes content, bool native) {
    build_log[0] = 0;
    /* The extension takes no native binary: the way in is a program of the backend for both. */
    if (native || !by_extension) return build_native(content, native);
    try {
        build_by_extension(content);
        return true;
    } catch (const sycl::exception &) {
        return false;
    }
}

static void tell_spill(void) {
    try {
        size_t spill = kernel->get_info<sycl::ext::intel::info::kernel_device_specific::spill_memory_size>(queue->get_device());
        answer("spill", true, "%zu bytes", spill);
    } catch (const sycl::exception &error) {
        answer("spill", false, "spill_memory_size: %s", error.what());
    }
}

static void tell_properties(void) {
    namespace about = sycl::info::kernel_device_specific;
    auto device = queue->get_device();
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

int main(int count, char **words) {
    try {
        return run(count, words);
    } catch (const std::exception &error) {
        fail("sycl", 0, "%s", error.what());
    }
}

#endif
