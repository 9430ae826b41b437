/* Level Zero modules, as the plain Level Zero host uses them and as SYCL's reaches its native objects with them. */
#ifndef COMPARE_ZE_LAYER_H
#define COMPARE_ZE_LAYER_H

#include <level_zero/ze_api.h>

/* Build a module; return NULL when the device refuses it, with what the compiler said in `log`. */
static ze_module_handle_t ze_build(ze_context_handle_t context, ze_device_handle_t device, bytes content, bool native,
                                   char *log, size_t size) {
    ze_module_desc_t about;
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t told = NULL;
    memset(&about, 0, sizeof about);
    about.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    about.format = native ? ZE_MODULE_FORMAT_NATIVE : ZE_MODULE_FORMAT_IL_SPIRV;
    about.inputSize = content.size;
    about.pInputModule = (const uint8_t *)content.data;
    about.pBuildFlags = "";
    log[0] = 0;
    ze_result_t result = zeModuleCreate(context, device, &about, &module, &told);
    if (told && result != ZE_RESULT_SUCCESS) zeModuleBuildLogGetString(told, &size, log);
    if (told) CHECK(zeModuleBuildLogDestroy, (told));
    return result == ZE_RESULT_SUCCESS ? module : NULL;
}

/* Return a kernel of a module, NULL when it has none of that name. */
static ze_kernel_handle_t ze_kernel(ze_module_handle_t module, const char *name) {
    ze_kernel_desc_t about;
    ze_kernel_handle_t kernel = NULL;
    memset(&about, 0, sizeof about);
    about.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
    about.pKernelName = name;
    return zeKernelCreate(module, &about, &kernel) == ZE_RESULT_SUCCESS ? kernel : NULL;
}

static bytes ze_native_binary(ze_module_handle_t module) {
    bytes native;
    native.size = 0;
    CHECK(zeModuleGetNativeBinary, (module, &native.size, NULL));
    native.data = allocate(native.size);
    CHECK(zeModuleGetNativeBinary, (module, &native.size, (uint8_t *)native.data));
    return native;
}

#endif
