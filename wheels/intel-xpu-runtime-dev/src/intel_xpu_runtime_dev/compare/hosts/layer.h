/* What every host of `compare` does with its layer; included last by each.
 *
 * The including file defines BACKEND and, for the add kernel that the package ships, the functions declared below.
 * What a host says is described in smoke/hosts/channel.h, plus:
 *   answer  question=NAME verdict=yes|no|not executed detail=TEXT
 *   time    seconds=S                       of one launch, the mean of the launches asked for
 * Modes: `questions`, `cold spirv|native`, `time`, which then reads lines from the parent:
 *   submit N | held N | finish N | check | quit
 */
#ifndef COMPARE_LAYER_H
#define COMPARE_LAYER_H

enum { ELEMENTS = 5000, WORK_GROUP = 64, BLOCK = 1024, GROUPS = (ELEMENTS + BLOCK - 1) / BLOCK, WARM_UP = 50, UNTOUCHED = -7 };
/* The kernel that build() takes out of a module. */
static const char *entry = "add_kernel";

static float *left, *right, *sum;
static int32_t elements = ELEMENTS;
static char build_log[MAX_TEXT];

static const char *open_layer(const char *adapter);          /* returns the device's name */
static bool build(bytes content, bool native);               /* fills build_log when it fails */
static bytes native_binary(void);
static void tell_spill(void);                                /* answers `spill` of the kernel that was built last */
static void tell_properties(void);                           /* answers `properties` of it */
static float *shared_memory(size_t size);
static void submit(void);                                    /* sets the arguments and enqueues */
static bool submit_with_event(void);                         /* false when no event came back */
static void finish(void);
static bool hold(void);                                      /* keep the device from running what is submitted next */
static void let_go(void);

static void answer(const char *question, bool yes, const char *format, ...) {
    char detail[MAX_TEXT / 2];
    va_list values;
    va_start(values, format);
    vsnprintf(detail, sizeof detail, format, values);
    va_end(values);
    say("answer\tquestion=%s\tverdict=%s\tdetail=%s", question, yes ? "yes" : "no", one_line(detail));
}

static void prepare(void) {
    left = shared_memory(ELEMENTS * sizeof(float));
    right = shared_memory(ELEMENTS * sizeof(float));
    sum = shared_memory(ELEMENTS * sizeof(float));
    for (int i = 0; i < ELEMENTS; i++) {
        left[i] = (float)i * 0.5f;
        right[i] = (float)i * 0.25f + 1;
    }
}

static void clear(void) {
    for (int i = 0; i < ELEMENTS; i++) sum[i] = UNTOUCHED;
}

static unsigned wrong_elements(void) {
    unsigned wrong = 0;
    for (int i = 0; i < ELEMENTS; i++) wrong += sum[i] != left[i] + right[i];
    return wrong;
}

/* A launch that changes nothing at all is one that the device has only been told of: a virtual GPU. */
static void answer_launch(const char *question, const char *origin) {
    unsigned unchanged = 0;
    clear();
    bool event = submit_with_event();
    finish();
    unsigned wrong = wrong_elements();
    for (int i = 0; i < ELEMENTS; i++) unchanged += sum[i] == UNTOUCHED;
    const char *verdict = unchanged == ELEMENTS ? "not executed" : wrong == 0 && event ? "yes" : "no";
    say("answer\tquestion=%s\tverdict=%s\tdetail=%s: %u of %d elements are wrong%s%s", question, verdict, origin, wrong,
        ELEMENTS, unchanged == ELEMENTS ? ", all are as before the launch" : "",
        event ? "" : "; the launch reports success but returns no event");
}

/* Of a kernel that spills on a GPU, which the add kernel does not. */
static void answer_spill(void) {
    const char *usual = entry;
    begin("spill");
    entry = "matmul_kernel";
    if (build(read_file("spilling.spv"), false)) tell_spill();
    else answer("spill", false, "the kernel is refused: %s", build_log);
    entry = usual;
}

static void answer_questions(void) {
    begin("build-log");
    bool built = build(read_file("bad.spv"), false);
    answer("build-log", !built && build_log[0], "%s",
           built ? "a kernel for sub-groups of 7 was built" : build_log[0] ? build_log : "refused, with no log");
    answer_spill();
    begin("spirv");
    double start = now();
    built = build(read_file("kernel.spv"), false);
    answer("spirv", built, built ? "built in %.1f ms" : "refused: %.0f ms", (now() - start) * 1e3);
    if (!built) fail("build", 0, "%s", build_log);
    begin("properties");
    tell_properties();
    begin("launch");
    prepare();
    answer_launch("launch", "from SPIR-V");
    begin("native-out");
    bytes native = native_binary();
    answer("native-out", native.size > 0, "%zu bytes", native.size);
    write_parts("native.bin", &native, 1);
    begin("native-in");
    start = now();
    built = native.size > 0 && build(native, true);
    double seconds = now() - start;
    if (!built) {
        answer("native-in", false, "refused: %s", build_log);
        return;
    }
    char origin[64];
    snprintf(origin, sizeof origin, "from the native binary, loaded in %.1f ms", seconds * 1e3);
    answer_launch("native-in", origin);
}

static double per_launch(const char *what, unsigned count) {
    for (unsigned i = 0; i < WARM_UP; i++) submit();
    finish();
    bool held = strcmp(what, "held") == 0;
    if (held && !hold()) fail("hold", 0, "this layer has no way to hold the device");
    double start = now();
    for (unsigned i = 0; i < count; i++) {
        submit();
        if (what[0] == 'f') finish();
    }
    double seconds = now() - start;
    if (held) let_go();
    finish();
    return seconds / count;
}

static void serve(void) {
    char line[64], what[16];
    unsigned count;
    say("ask");
    while (fgets(line, sizeof line, stdin)) {
        count = 0;
        if (sscanf(line, "%15s %u", what, &count) < 1 || strcmp(what, "quit") == 0) break;
        if (strcmp(what, "check") == 0) {
            clear();
            submit();
            finish();
            unsigned wrong = wrong_elements();
            answer("check", wrong == 0, "%u of %d elements are wrong", wrong, ELEMENTS);
        } else
            say("time\tseconds=%.12f", per_launch(what, count));
    }
}

static int run(int count, char **words) {
    const char *mode = count > 1 ? words[1] : "", *adapter = count > 2 ? words[2] : "";
    const char *from = count > 3 ? words[3] : "spirv";
    bool native = strcmp(from, "native") == 0;
    say("hello\tbackend=%s\tversion=%s", BACKEND, QUOTED(SMOKE_VERSION));
    begin("load");
    say("device\tindex=0\ttype=other\tname=%s\tdriver=", open_layer(adapter));
    if (strcmp(mode, "questions") == 0) {
        answer_questions();
    } else {
        begin("build");
        if (!build(read_file(native ? "native.bin" : "kernel.spv"), native)) fail("build", 0, "%s", build_log);
        prepare();
        clear();
        submit();
        finish();
        answer("check", wrong_elements() == 0, "%u of %d elements are wrong", wrong_elements(), ELEMENTS);
        if (strcmp(mode, "time") == 0) serve();
    }
    say("end");
    /* Not exit: some drivers end badly, and nobody asks about that here. */
    _Exit(0);
}

#endif
