/* The stages that a host goes through, the same on both backends; included last by each.
 *
 * The including file defines BACKEND, `target`, `module`, and the functions that are called here without being defined here.
 */
#ifndef SMOKE_FLOW_H
#define SMOKE_FLOW_H

static void launch_once(const target *on, const job *wanted, const module *of, void **buffers, const char *file) {
    bytes after_launch[MAX_BUFFERS];
    for (unsigned b = 0; b < wanted->buffer_count; b++)
        memcpy(buffers[b], wanted->buffers[b].data, wanted->buffers[b].size);
    double start = now();
    launch(on, wanted, of, buffers);
    double cold = now() - start;
    for (unsigned b = 0; b < wanted->buffer_count; b++) {
        /* A copy: Intel's driver brings shared memory back from the device when a program touches it, but not when the
         * kernel does, for which write(2) then gives EFAULT. */
        after_launch[b].size = wanted->buffers[b].size;
        after_launch[b].data = memcpy(allocate(after_launch[b].size), buffers[b], after_launch[b].size);
    }
    write_parts(file, after_launch, wanted->buffer_count);
    for (unsigned b = 0; b < wanted->buffer_count; b++) free(after_launch[b].data);
    say("output\tfile=%s\tcold=%.9f", file, cold);
}

static void time_launches(const target *on, const job *wanted, const module *of, void **buffers) {
    begin("timing");
    double *warm = (double *)allocate(wanted->repeat * sizeof *warm);
    for (unsigned i = 0; i < wanted->repeat; i++) {
        double start = now();
        launch(on, wanted, of, buffers);
        warm[i] = now() - start;
    }
    done("warm %.1f us, median of %u", median(warm, wanted->repeat) * 1e6, wanted->repeat);
}

int main(void) {
    void *buffers[MAX_BUFFERS];
    module jit, native;
    target on;

    say("hello\tbackend=%s\tversion=%s", BACKEND, QUOTED(SMOKE_VERSION));
    begin("load");
    load();
    begin("devices");
    list_devices();
    const job *wanted = read_job();

    begin("build");
    open_device(&on, wanted);
    bool cached = wanted->native[0] && from_native(&on, wanted, read_file(wanted->native), &native);
    if (cached) {
        skipped("build", "started from the cached native binary");
    } else {
        jit = from_spirv(&on, wanted);
        done("%s, %s", wanted->spirv, wanted->entry);
    }

    begin("properties");
    tell_properties(&on, wanted, cached ? &native : &jit);

    begin("native-binary");
    if (cached) {
        done("loaded from the cache");
    } else {
        bytes binary = native_binary(&jit);
        write_parts(wanted->save, &binary, 1);
        if (!from_native(&on, wanted, binary, &native))
            fail("native binary", 0, "the driver refuses the native binary that it has made");
        done("%zu bytes out and in again%s", binary.size, wanted->native[0] ? "; the cached one was refused" : "");
    }

    begin("launch");
    for (unsigned b = 0; b < wanted->buffer_count; b++) buffers[b] = shared_memory(&on, wanted->buffers[b].size);
    if (!cached) launch_once(&on, wanted, &jit, buffers, "jit.out");
    launch_once(&on, wanted, &native, buffers, "native.out");
    done("grid %zu %zu %zu, work-group %zu", wanted->grid[0], wanted->grid[1], wanted->grid[2], wanted->work_group);

    time_launches(&on, wanted, &native, buffers);

    for (unsigned b = 0; b < wanted->buffer_count; b++) free_memory(&on, buffers[b]);
    if (!cached) release_module(&jit);
    release_module(&native);
    close_device(&on);
    say("end");
    return 0;
}

#endif
