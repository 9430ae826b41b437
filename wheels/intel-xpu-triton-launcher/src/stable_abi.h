/* The part of CPython's stable ABI that the launcher uses.

   Declared here as the manual documents it (docs.python.org/3/c-api/stable.html) rather than taken from Python.h, so that
   one build, cross-compiled, serves every CPython from 3.9 on and does not depend on the headers of the machine. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
#define PYTHON_DATA __declspec(dllimport)
#define PYTHON_INIT __declspec(dllexport)
#else
#define PYTHON_DATA extern
#define PYTHON_INIT __attribute__((visibility("default")))
#endif

typedef ptrdiff_t Py_ssize_t;

typedef struct PyObject {
  Py_ssize_t refcount;
  void *type;
} PyObject;

typedef struct {
  const char *name;
  void *function;
  int flags;
  const char *doc;
} PyMethodDef;

typedef struct {
  PyObject head;
  PyObject *(*init)(void);
  Py_ssize_t index;
  PyObject *copy;
} PyModuleDef_Base;

typedef struct {
  PyModuleDef_Base base;
  const char *name;
  const char *doc;
  Py_ssize_t size;
  PyMethodDef *methods;
  void *slots;
  void *traverse;
  void *clear;
  void *free;
} PyModuleDef;

enum { METH_VARARGS = 0x0001, METH_FASTCALL = 0x0080, PYTHON_ABI_VERSION = 3 };

/* Of every type whose instances are integers. */
#define Py_TPFLAGS_LONG_SUBCLASS (1ul << 24)

PYTHON_DATA PyObject _Py_NoneStruct;
PYTHON_DATA PyObject *PyExc_AttributeError;
PYTHON_DATA PyObject *PyExc_OverflowError;
PYTHON_DATA PyObject *PyExc_TypeError;
PYTHON_DATA PyObject *PyExc_ValueError;

#define Py_None (&_Py_NoneStruct)

void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);
int PyArg_ParseTuple(PyObject *, const char *, ...);
int PyBytes_AsStringAndSize(PyObject *, char **, Py_ssize_t *);
PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));
void *PyCapsule_GetPointer(PyObject *, const char *);
void PyErr_Clear(void);
int PyErr_ExceptionMatches(PyObject *);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_NoMemory(void);
PyObject *PyErr_Occurred(void);
double PyFloat_AsDouble(PyObject *);
long PyLong_AsLong(PyObject *);
long long PyLong_AsLongLong(PyObject *);
size_t PyLong_AsSize_t(PyObject *);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
unsigned long long PyLong_AsUnsignedLongLongMask(PyObject *);
void *PyLong_AsVoidPtr(PyObject *);
PyObject *PyLong_FromLong(long);
void PyMem_Free(void *);
void *PyMem_Malloc(size_t);
int PyModule_AddIntConstant(PyObject *, const char *, long);
PyObject *PyModule_Create2(PyModuleDef *, int);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyObject_CallMethodObjArgs(PyObject *, PyObject *, ...);
int PyObject_IsTrue(PyObject *);
PyObject *PySequence_GetItem(PyObject *, Py_ssize_t);
PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
Py_ssize_t PyTuple_Size(PyObject *);
unsigned long PyType_GetFlags(void *);
PyObject *PyUnicode_InternFromString(const char *);
