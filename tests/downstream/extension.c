/* A Python extension that calls the loader. Limited API, so that one file serves every Python. */
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <level_zero/ze_api.h>
#include <stdio.h>

static PyObject *init(PyObject *self, PyObject *unused) {
    char text[32];
    (void)self, (void)unused;
    snprintf(text, sizeof text, "zeInit: %#x", (unsigned)zeInit(0));
    return PyUnicode_FromString(text);
}

static PyMethodDef methods[] = {{"init", init, METH_NOARGS, "Tell zeInit's result."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "downstream", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_downstream(void) { return PyModule_Create(&module); }
