#include <level_zero/ze_api.h>
#include <ze_api.h>

int main(void) { return zeInit(0) == ZE_RESULT_SUCCESS; }
