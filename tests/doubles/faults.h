/* The faults that a test asks for by an environment variable: `CALL=RESULT`, `CALL=hang` or `CALL=crash`. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* Return the result that a variable chooses for a call, 0 when it names another one; hang or crash when it says so. */
static unsigned long chosen_fault(const char *variable, const char *call) {
    const char *text = setting(variable, "");
    size_t length = strlen(call);
    if (strncmp(text, call, length) != 0 || text[length] != '=') return 0;
    const char *chosen = text + length + 1;
    if (strcmp(chosen, "hang") == 0)
        for (volatile bool forever = true; forever;) {}
    if (strcmp(chosen, "crash") == 0) *(volatile int *)8 = 0;
    return strtoul(chosen, NULL, 16);
}
