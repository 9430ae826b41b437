/* What both hosts share: the lines they say to the parent, the job they are given, files, a clock.
 *
 * Compiles as C and as C++. The compiler defines SMOKE_VERSION, the version of the headers, and SMOKE_LIBRARY, the link name
 * of the loader, both without quotes.
 *
 * Each event is one line of tab-separated fields behind "@smoke"; whatever a driver prints in between is not ours.
 *   hello   backend=NAME version=VERSION of the headers
 *   begin   stage=NAME
 *   done    stage=NAME seconds=S detail=TEXT
 *   skipped stage=NAME detail=TEXT
 *   failed  stage=NAME seconds=S call=FUNCTION result=CODE detail=TEXT
 *   device  index=I type=cpu|gpu|other name=TEXT driver=TEXT
 *   ask     (the parent now writes the job)
 *   output  file=NAME cold=S     (the buffers after a launch, in the order of the job)
 *   end
 * The job is lines of a word and its values, see read_job(). Files have plain names in the current folder.
 */
#ifndef SMOKE_CHANNEL_H
#define SMOKE_CHANNEL_H

#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dladdr */
#endif
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#include <time.h>
#endif

#define QUOTED(name) QUOTED_(name)
#define QUOTED_(name) #name

enum { MAX_BUFFERS = 8, MAX_ARGUMENTS = 16, MAX_DEVICES = 64, MAX_TEXT = 4096 };

typedef enum { POINTER, INTEGER, LOCAL_MEMORY } argument_kind;

typedef struct {
    argument_kind kind;
    unsigned buffer;
    size_t offset; /* of a pointer into its buffer, in bytes */
    int32_t integer;
    size_t size; /* of local memory, in bytes */
} argument;

typedef struct {
    void *data;
    size_t size;
} bytes;

typedef struct {
    unsigned device;
    char spirv[64], native[64], save[64]; /* file names; native is "" when nothing is cached */
    char entry[128], options[256];
    size_t work_group, grid[3];
    unsigned repeat;
    bytes buffers[MAX_BUFFERS];
    unsigned buffer_count;
    argument arguments[MAX_ARGUMENTS];
    unsigned argument_count;
} job;

static const char *current_stage = "load";
static double stage_start;

static double now(void) {
#ifdef _WIN32
    LARGE_INTEGER frequency, count;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&count);
    return (double)count.QuadPart / (double)frequency.QuadPart;
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
#endif
}

static void say(const char *format, ...) {
    /* A driver may have left a line unfinished: begin a new one. */
    char line[2 * MAX_TEXT];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    printf("\n@smoke\t%s\n", line);
    fflush(stdout);
}

/* Make a text fit into one field of one line. */
static char *one_line(char *text) {
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ') *at = ' ';
    return text;
}

static void begin(const char *stage) {
    current_stage = stage;
    stage_start = now();
    say("begin\tstage=%s", stage);
}

static void done(const char *format, ...) {
    double seconds = now() - stage_start;
    char detail[MAX_TEXT];
    va_list values;
    va_start(values, format);
    vsnprintf(detail, sizeof detail, format, values);
    va_end(values);
    say("done\tstage=%s\tseconds=%.6f\tdetail=%s", current_stage, seconds, one_line(detail));
}

static void skipped(const char *stage, const char *detail) {
    say("skipped\tstage=%s\tdetail=%s", stage, detail);
}

/* Report the failure of the current stage and end at once: a driver in trouble may hang in its exit handlers. */
static void fail(const char *call, unsigned result, const char *format, ...) {
    double seconds = now() - stage_start;
    char detail[MAX_TEXT];
    va_list values;
    va_start(values, format);
    vsnprintf(detail, sizeof detail, format, values);
    va_end(values);
    say("failed\tstage=%s\tseconds=%.6f\tcall=%s\tresult=0x%x\tdetail=%s",
        current_stage, seconds, call, result, one_line(detail));
    _Exit(1);
}

/* Call a function of the runtime that must succeed. */
#define CHECK(function, arguments)                              \
    do {                                                        \
        unsigned result_ = (unsigned)(function arguments);      \
        if (result_ != 0) fail(#function, result_, "%s", "");   \
    } while (0)

static void *allocate(size_t size) {
    void *memory = calloc(1, size ? size : 1);
    if (!memory) fail("calloc", 0, "out of memory for %zu bytes", size);
    return memory;
}

static bytes read_file(const char *name) {
    bytes content;
    FILE *file = fopen(name, "rb");
    if (!file) fail("fopen", 0, "cannot read %s", name);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    content.size = size > 0 ? (size_t)size : 0;
    content.data = allocate(content.size);
    if (fread(content.data, 1, content.size, file) != content.size) fail("fread", 0, "cannot read %s", name);
    fclose(file);
    return content;
}

static void write_parts(const char *name, const bytes *parts, unsigned count) {
    FILE *file = fopen(name, "wb");
    bool complete = file != NULL;
    for (unsigned i = 0; complete && i < count; i++)
        complete = fwrite(parts[i].data, 1, parts[i].size, file) == parts[i].size;
    if (!complete || fclose(file) != 0) fail("fwrite", 0, "cannot write %s", name);
}

static argument *next_argument(job *wanted, argument_kind kind) {
    if (wanted->argument_count == MAX_ARGUMENTS) fail("job", 0, "more than %d arguments", MAX_ARGUMENTS);
    argument *added = &wanted->arguments[wanted->argument_count++];
    added->kind = kind;
    return added;
}

/* Return the text behind "WORD " when the line begins with it. */
static const char *after(const char *line, const char *word) {
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static void read_job_line(job *wanted, const char *line) {
    const char *rest;
    if ((rest = after(line, "device"))) wanted->device = (unsigned)strtoul(rest, NULL, 10);
    else if ((rest = after(line, "spirv"))) snprintf(wanted->spirv, sizeof wanted->spirv, "%s", rest);
    else if ((rest = after(line, "native"))) snprintf(wanted->native, sizeof wanted->native, "%s", rest);
    else if ((rest = after(line, "save"))) snprintf(wanted->save, sizeof wanted->save, "%s", rest);
    else if ((rest = after(line, "entry"))) snprintf(wanted->entry, sizeof wanted->entry, "%s", rest);
    else if ((rest = after(line, "options"))) snprintf(wanted->options, sizeof wanted->options, "%s", rest);
    else if ((rest = after(line, "work_group"))) wanted->work_group = strtoul(rest, NULL, 10);
    else if ((rest = after(line, "repeat"))) wanted->repeat = (unsigned)strtoul(rest, NULL, 10);
    else if ((rest = after(line, "grid"))) {
        char *end = (char *)rest;
        for (unsigned i = 0; i < 3; i++) wanted->grid[i] = strtoul(end, &end, 10);
    } else if ((rest = after(line, "buffer"))) {
        if (wanted->buffer_count == MAX_BUFFERS) fail("job", 0, "more than %d buffers", MAX_BUFFERS);
        wanted->buffers[wanted->buffer_count++] = read_file(rest);
    } else if ((rest = after(line, "pointer"))) {
        argument *added = next_argument(wanted, POINTER);
        char *end;
        added->buffer = (unsigned)strtoul(rest, &end, 10);
        added->offset = strtoul(end, NULL, 10);
        if (added->buffer >= wanted->buffer_count) fail("job", 0, "no buffer %u", added->buffer);
    } else if ((rest = after(line, "integer"))) {
        next_argument(wanted, INTEGER)->integer = (int32_t)strtol(rest, NULL, 10);
    } else if ((rest = after(line, "local_memory"))) {
        next_argument(wanted, LOCAL_MEMORY)->size = strtoul(rest, NULL, 10);
    } else
        fail("job", 0, "line not understood: %s", line);
}

/* Read the parent's answer to "ask", up to the line "run"; end quietly when it has none. */
static job *read_job(void) {
    static job wanted;
    char line[512];
    say("ask");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = 0;
        if (strcmp(line, "run") == 0) return &wanted;
        read_job_line(&wanted, line);
    }
    _Exit(0);
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static double median(double *values, unsigned count) {
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

/* Return the path of the loaded library that has this function, in UTF-8. */
static const char *loader_path(const char *function) {
    static char path[MAX_TEXT / 2];
#ifdef _WIN32
    static wchar_t wide[MAX_TEXT / 2];
    (void)function;
    if (!GetModuleFileNameW(GetModuleHandleA(QUOTED(SMOKE_LIBRARY) ".dll"), wide, MAX_TEXT / 2)) return "";
    WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)sizeof path, NULL, NULL);
#else
    Dl_info found;
    void *address = dlsym(RTLD_DEFAULT, function);
    if (!address || !dladdr(address, &found)) return "";
    snprintf(path, sizeof path, "%s", found.dli_fname);
#endif
    return path;
}

#endif
