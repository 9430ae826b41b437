/* For scripts/bench/triton_driver.py: a builtin that does nothing, and a function that enqueues nothing. */
#include "stable_abi.h"

PYTHON_INIT int enqueue_nothing(void) { return 0; }

static PyObject *nothing(PyObject *self, PyObject *const *given, Py_ssize_t count) {
  (void)self, (void)given, (void)count;
  Py_IncRef(Py_None);
  return Py_None;
}

static PyMethodDef methods[] = {{"nothing", (void *)nothing, METH_FASTCALL, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef definition = {
    .base = {{1, NULL}, NULL, 0, NULL}, .name = "triton_nothing", .size = -1, .methods = methods};

PYTHON_INIT PyObject *PyInit_triton_nothing(void) { return PyModule_Create2(&definition, PYTHON_ABI_VERSION); }
