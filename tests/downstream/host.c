/* A host program: prints what the loader answers, so it needs the header, the library and a loader. */
#ifdef BARE_SPELLING
#include <ze_api.h>
#else
#include <level_zero/ze_api.h>
#endif
#include <stdio.h>

int main(void) {
    printf("zeInit: %#x\n", (unsigned)zeInit(0));
    return 0;
}
