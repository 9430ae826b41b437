/* What torch does with SYCL, as C functions: an in-order queue, memory of its context, copies that nobody waits for. */
#define SYCL_DISABLE_FSYCL_SYCLHPP_WARNING
#include <sycl/sycl.hpp>

static sycl::queue &of(void *queue) { return *(sycl::queue *)queue; }

extern "C" {
void *make_queue(void *like) {
    sycl::property_list in_order{sycl::property::queue::in_order{}};
    return like ? new sycl::queue(of(like).get_context(), of(like).get_device(), in_order) : new sycl::queue(in_order);
}
/* A queue in a context of its own. */
void *make_foreign_queue() {
    sycl::device device;
    return new sycl::queue(sycl::context(device), device, sycl::property::queue::in_order{});
}
void *shared_memory(void *queue, size_t bytes) { return sycl::malloc_shared(bytes, of(queue)); }
void *device_memory(void *queue, size_t bytes) { return sycl::malloc_device(bytes, of(queue)); }
void copy(void *queue, void *to, const void *from, size_t bytes) { of(queue).memcpy(to, from, bytes); }
void wait_for(void *queue) { of(queue).wait(); }
}
