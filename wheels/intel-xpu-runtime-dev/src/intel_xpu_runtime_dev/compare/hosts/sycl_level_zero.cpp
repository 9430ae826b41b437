/* SYCL on Level Zero, from an ordinary C++ compiler. Which adapter is below, UR_LOADER_USE_LEVEL_ZERO_V2 says. */
#define SYCL_DISABLE_FSYCL_SYCLHPP_WARNING
#include <optional>
#include <string>
#include <sycl/sycl.hpp>

#include "channel.h"

#include "ze_layer.h"

#include <sycl/ext/oneapi/backend/level_zero.hpp>

constexpr auto NATIVE = sycl::backend::ext_oneapi_level_zero;

#include "sycl_layer.h"

static ze_module_handle_t program;

static void keep_native(const sycl::kernel_bundle<sycl::bundle_state::executable> &built) {
    program = sycl::get_native<NATIVE>(built).at(0);
}

static bool build_native(bytes content, bool native) {
    using sycl::ext::oneapi::level_zero::ownership;
    auto context = queue->get_context();
    program = ze_build(sycl::get_native<NATIVE>(context), sycl::get_native<NATIVE>(queue->get_device()), content, native,
                       build_log, sizeof build_log);
    ze_kernel_handle_t made = program ? ze_kernel(program, entry) : NULL;
    if (!made) return false;
    auto bundle = sycl::make_kernel_bundle<NATIVE, sycl::bundle_state::executable>({program, ownership::keep}, context);
    kernel = sycl::make_kernel<NATIVE>({bundle, made, ownership::keep}, context);
    return true;
}

static bytes native_binary(void) {
    return ze_native_binary(program);
}

/* As in level_zero.c: nothing could be compared with a time held here. */
static bool hold(void) {
    return false;
}

static void let_go(void) {
}
