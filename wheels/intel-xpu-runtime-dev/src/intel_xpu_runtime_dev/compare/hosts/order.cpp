/* A native launch between two SYCL kernels of an in-order queue, each of which needs what the one before has written.
 *
 * Argument: the number of rounds. For each way of waiting this says
 *   order  launcher=opencl|unified-runtime|sycl before=0|1 after=0|1 rounds=N wrong_native=N wrong_final=N
 * `before`: the native launch waits for the queue's last event; `after`: the queue waits for the native launch.
 */
#define SYCL_DISABLE_FSYCL_SYCLHPP_WARNING
#include <chrono>
#include <sycl/sycl.hpp>
#include <thread>

#include "channel.h"

#include "opencl_layer.h"
#include <ur_api.h>

namespace syclex = sycl::ext::oneapi::experimental;
constexpr auto OPENCL = sycl::backend::opencl;
enum { ELEMENTS = 1 << 16, BLOCK = 1024, WORK_GROUP = 64 };
static const size_t GLOBAL = ELEMENTS / BLOCK * WORK_GROUP, LOCAL = WORK_GROUP;

/* Launches out[i] = middle[i] + 2 outside of SYCL, after `before` (may be NULL); returns its event. */
class native_launcher {
public:
    const char *name;
    explicit native_launcher(const char *called) : name(called) {}
    virtual ~native_launcher() = default;
    virtual cl_event launch(cl_event before) = 0;
    virtual void finish() = 0;
};

struct arguments {
    float *left, *right, *sum;
    int32_t count;
};

class opencl_launcher : public native_launcher {
    cl_command_queue queue;
    cl_kernel kernel;

public:
    opencl_launcher(cl_context context, cl_device_id device, bytes spirv, arguments given) : native_launcher("opencl") {
        cl_int result;
        char log[MAX_TEXT];
        queue = clCreateCommandQueueWithProperties(context, device, NULL, &result);
        cl_program program = cl_build(context, device, spirv, false, log, sizeof log);
        if (!program) fail("clBuildProgram", 0, "%s", log);
        kernel = clCreateKernel(program, "add_kernel", &result);
        auto set_pointer = cl_set_pointer(device);
        CHECK(set_pointer, (kernel, 0, given.left));
        CHECK(set_pointer, (kernel, 1, given.right));
        CHECK(set_pointer, (kernel, 2, given.sum));
        CHECK(clSetKernelArg, (kernel, 3, sizeof given.count, &given.count));
    }

    cl_event launch(cl_event before) override {
        cl_event after = NULL;
        CHECK(clEnqueueNDRangeKernel,
              (queue, kernel, 1, NULL, &GLOBAL, &LOCAL, before ? 1 : 0, before ? &before : NULL, &after));
        CHECK(clFlush, (queue));
        return after;
    }

    void finish() override { CHECK(clFinish, (queue)); }
};

#if SMOKE_RELEASE >= 20260000
class unified_runtime_launcher : public native_launcher {
    ur_context_handle_t context;
    ur_queue_handle_t queue;
    ur_kernel_handle_t kernel;
    arguments given;

public:
    unified_runtime_launcher(cl_context native, cl_device_id native_device, bytes spirv, arguments values)
        : native_launcher("unified-runtime"), given(values) {
        ur_adapter_handle_t adapters[16], adapter = NULL;
        ur_device_handle_t device;
        ur_program_handle_t program;
        uint32_t count = 0;
        CHECK(urLoaderInit, (0, NULL));
        CHECK(urAdapterGet, (16, adapters, &count));
        for (uint32_t a = 0; a < count; a++) {
            ur_backend_t backend;
            CHECK(urAdapterGetInfo, (adapters[a], UR_ADAPTER_INFO_BACKEND, sizeof backend, &backend, NULL));
            if (backend == UR_BACKEND_OPENCL) adapter = adapters[a];
        }
        CHECK(urDeviceCreateWithNativeHandle, ((ur_native_handle_t)native_device, adapter, NULL, &device));
        CHECK(urContextCreateWithNativeHandle, ((ur_native_handle_t)native, adapter, 1, &device, NULL, &context));
        CHECK(urQueueCreate, (context, device, NULL, &queue));
        CHECK(urProgramCreateWithIL, (context, spirv.data, spirv.size, NULL, &program));
        CHECK(urProgramBuild, (context, program, ""));
        CHECK(urKernelCreate, (program, "add_kernel", &kernel));
    }

    cl_event launch(cl_event before) override {
        ur_exp_kernel_arg_properties_t values[4];
        float *pointers[3] = {given.left, given.right, given.sum};
        const size_t global[3] = {GLOBAL, 1, 1}, local[3] = {LOCAL, 1, 1};
        ur_event_handle_t imported = NULL, after = NULL;
        ur_native_handle_t exported;
        memset(values, 0, sizeof values);
        for (uint32_t i = 0; i < 4; i++) {
            values[i].stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES;
            values[i].index = i;
            values[i].type = i < 3 ? UR_EXP_KERNEL_ARG_TYPE_POINTER : UR_EXP_KERNEL_ARG_TYPE_VALUE;
            values[i].size = i < 3 ? sizeof(void *) : sizeof given.count;
            if (i < 3) values[i].value.pointer = pointers[i];
            else values[i].value.value = &given.count;
        }
        if (before) {
            /* The imported event takes a reference over: ours is given back by the caller. */
            CHECK(clRetainEvent, (before));
            CHECK(urEventCreateWithNativeHandle, ((ur_native_handle_t)before, context, NULL, &imported));
        }
        CHECK(urEnqueueKernelLaunchWithArgsExp,
              (queue, kernel, 3, NULL, global, local, 4, values, NULL, before ? 1 : 0, before ? &imported : NULL, &after));
        CHECK(urQueueFlush, (queue));
        CHECK(urEventGetNativeHandle, (after, &exported));
        CHECK(clRetainEvent, ((cl_event)exported));
        CHECK(urEventRelease, (after));
        if (imported) CHECK(urEventRelease, (imported));
        return (cl_event)exported;
    }

    void finish() override { CHECK(urQueueFinish, (queue)); }
};
#endif

struct chain {
    sycl::queue queue;
    sycl::kernel add;
    /* start -> middle (+1, SYCL) -> out (+2, native) -> end (+4, SYCL) */
    float *start, *one, *middle, *two, *out, *four, *end, *seen;
};

static void add(chain &in, float *left, float *right, float *sum) {
    in.queue.submit([&](sycl::handler &group) {
        group.set_args(left, right, sum, (int32_t)ELEMENTS);
        group.parallel_for(sycl::nd_range<1>(GLOBAL, LOCAL), in.add);
    });
}

static bool differs(chain &in, float *values, float wanted) {
    in.queue.memcpy(in.seen, values, ELEMENTS * sizeof(float)).wait();
    for (int i = 0; i < ELEMENTS; i++)
        if (in.seen[i] != wanted) return true;
    return false;
}

/* `launcher` NULL: SYCL makes the middle launch as well. */
static void rounds(chain &in, native_launcher *launcher, bool before, bool after, int count, float base) {
    int wrong_native = 0, wrong_final = 0;
    for (int round = 0; round < count; round++) {
        /* Never a value that an earlier round has left behind; exact in a float. */
        float value = base + (float)round * 16;
        /* The queue is busy: else the native launch would often find its input by good luck. */
        cl_hold(sycl::get_native<OPENCL>(in.queue));
        in.queue.fill(in.start, value, ELEMENTS);
        add(in, in.start, in.one, in.middle);
        cl_event waited = NULL, launched = NULL;
        if (before && launcher) {
            auto last = in.queue.ext_oneapi_get_last_event();
            if (!last) fail("ext_oneapi_get_last_event", 0, "the queue has no last event");
            waited = sycl::get_native<OPENCL>(*last).at(0); /* a reference of our own */
        }
        CHECK(clFlush, (sycl::get_native<OPENCL>(in.queue)));
        if (launcher) launched = launcher->launch(waited);
        else add(in, in.middle, in.two, in.out);
        if (launcher && after) in.queue.ext_oneapi_set_external_event(sycl::make_event<OPENCL>({launched}, in.queue.get_context()));
        add(in, in.out, in.four, in.end);
        /* Time enough for a launch that waits for nothing. */
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        cl_let_go();
        wrong_final += differs(in, in.end, value + 7);
        if (launcher) launcher->finish();
        wrong_native += differs(in, in.out, value + 3);
        if (waited) CHECK(clReleaseEvent, (waited));
        if (launched && !after) CHECK(clReleaseEvent, (launched));
    }
    say("order\tlauncher=%s\tbefore=%d\tafter=%d\trounds=%d\twrong_native=%d\twrong_final=%d",
        launcher ? launcher->name : "sycl", before, after, count, wrong_native, wrong_final);
}

static void run(int count) {
    begin("order");
    bytes spirv = read_file("kernel.spv");
    const std::byte *data = (const std::byte *)spirv.data;
    sycl::queue queue{sycl::property::queue::in_order{}};
    auto source = syclex::create_kernel_bundle_from_source(queue.get_context(), syclex::source_language::spirv,
                                                           std::vector<std::byte>(data, data + spirv.size));
    auto built = syclex::build(source);
    chain in{queue, built.ext_oneapi_get_kernel("add_kernel"), 0, 0, 0, 0, 0, 0, 0, 0};
    for (float **memory : {&in.start, &in.one, &in.middle, &in.two, &in.out, &in.four, &in.end})
        *memory = sycl::malloc_device<float>(ELEMENTS, queue);
    in.seen = sycl::malloc_host<float>(ELEMENTS, queue);
    queue.fill(in.one, 1.f, ELEMENTS);
    queue.fill(in.two, 2.f, ELEMENTS);
    queue.fill(in.four, 4.f, ELEMENTS);
    for (float *memory : {in.middle, in.out, in.end}) queue.fill(memory, -1000.f, ELEMENTS);
    queue.wait();

    cl_context context = sycl::get_native<OPENCL>(queue.get_context());
    cl_device_id device = sycl::get_native<OPENCL>(queue.get_device());
    arguments given{in.middle, in.two, in.out, ELEMENTS};
    opencl_launcher opencl(context, device, spirv, given);
    float base = 0;
    rounds(in, NULL, false, false, count, base);
    for (int ways = 0; ways < 4; ways++)
        rounds(in, &opencl, ways & 1, ways & 2, count, base += (float)count * 16);
#if SMOKE_RELEASE >= 20260000
    unified_runtime_launcher unified_runtime(context, device, spirv, given);
    for (int ways = 0; ways < 4; ways++)
        rounds(in, &unified_runtime, ways & 1, ways & 2, count, base += (float)count * 16);
#endif
}

int main(int count, char **words) {
    try {
        run(count > 1 ? atoi(words[1]) : 1000);
    } catch (const std::exception &error) {
        fail("sycl", 0, "%s", error.what());
    }
    say("end");
    _Exit(0);
}
