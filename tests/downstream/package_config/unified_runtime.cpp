#include <unified-runtime/ur_api.h>
#include <ur_api.h>

int main() { return urLoaderConfigRelease(nullptr) == UR_RESULT_SUCCESS; }
