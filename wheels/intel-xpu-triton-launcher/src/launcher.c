/* Launch Triton's kernels through Unified Runtime.

   The runtime's functions come as addresses, so that neither its header nor its library is needed: the structure and the
   signatures below are those of ur_api.h. A launch keeps all its state on the stack and holds the interpreter lock from
   the first argument to the enqueueing, so launches of two threads cannot mix their arguments. */

#include "stable_abi.h"

enum {
  INTERFACE = 1,
  MAX_ARGUMENTS = 64, /* on the stack, within one page: Windows needs the C runtime's probe for more */
  LEADING = 9, /* grid (3), stream, function, packed metadata, launch metadata, enter hook, exit hook */
  VALUE = 0,   /* ur_exp_kernel_arg_type_t */
  POINTER = 1,
  LOCAL = 3,
  ARGUMENT_STRUCTURE = 0x5000, /* UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES */
};

typedef struct {
  int stype;
  void *next;
  int type;
  uint32_t index;
  size_t size;
  const void *value;
  uint64_t memory_flags;
} Argument; /* ur_exp_kernel_arg_properties_t */

typedef int Enqueue(void *queue, void *kernel, uint32_t dimensions, const size_t *offset, const size_t *global,
                    const size_t *local, uint32_t count, const Argument *arguments, const void *properties,
                    uint32_t waits, void *wait_list, void *event);
typedef int SetValue(void *kernel, uint32_t index, size_t size, const void *properties, const void *value);
typedef int SetPointer(void *kernel, uint32_t index, const void *properties, const void *pointer);
typedef int SetLocal(void *kernel, uint32_t index, size_t size, const void *properties);
/* 9 parameters up to 2025.2, 11 in 2025.3: zeros from the local size on are right for both. */
typedef int EnqueueSet(void *queue, void *kernel, uint32_t dimensions, const size_t *offset, const size_t *global,
                       const size_t *local, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

typedef struct {
  char code;          /* as Python's struct module, with y for bfloat16 and P for a pointer */
  unsigned char size; /* bytes */
  Py_ssize_t first;   /* index among the kernel's own arguments */
  PyObject *path;     /* tuple of all indices when the value lies inside a tuple, else NULL */
} Slot;

typedef struct {
  Enqueue *enqueue; /* NULL before release 2026.0 */
  SetValue *set_value;
  SetPointer *set_pointer;
  SetLocal *set_local;
  EnqueueSet *enqueue_set;
  size_t threads;
  PyObject *verify; /* (kernel) -> bytes of local memory to pass */
  PyObject *fail;   /* (result) raises */
  void *kernel;     /* the one that was verified */
  size_t local;
  int slots;
  int scratch;
  Slot slot[];
} Plan;

static const char CAPSULE[] = "intel_xpu_triton_launcher.plan";
static PyObject *data_ptr_name;

static int size_of(char code) {
  switch (code) {
  case '?': case 'b': case 'B': return 1;
  case 'h': case 'H': case 'e': case 'y': return 2;
  case 'i': case 'I': case 'f': return 4;
  case 'q': case 'Q': case 'd': case 'P': return 8;
  default: return 0;
  }
}

static uint32_t float_bits(float value) {
  union { float value; uint32_t bits; } both = {value};
  return both.bits;
}

/* IEEE 754 binary16, to nearest, ties to even, from the binary64 number so that it is rounded once. */
static uint16_t half_bits(double value) {
  union { double value; uint64_t bits; } both = {value};
  uint16_t sign = (uint16_t)(both.bits >> 48 & 0x8000);
  int exponent = (int)(both.bits >> 52 & 0x7FF) - 1023;
  uint64_t fraction = both.bits & 0xFFFFFFFFFFFFFull;
  if (exponent == 1024) return sign | 0x7C00 | (fraction ? 0x200 : 0);
  if (exponent > 15) return sign | 0x7C00;
  if (exponent < -25) return sign;
  uint64_t significand = fraction | 1ull << 52;
  int dropped = exponent < -14 ? 42 + (-14 - exponent) : 42;
  uint64_t kept = significand >> dropped;
  uint64_t rest = significand & ((1ull << dropped) - 1), middle = 1ull << (dropped - 1);
  kept += rest > middle || (rest == middle && kept & 1);
  /* The leading one of a normal number adds one to the exponent field; a carry from rounding does so as well. */
  return (uint16_t)(sign | (kept + (exponent < -14 ? 0 : (uint64_t)(exponent + 14) << 10)));
}

/* Return the address that a pointer argument means: a number, None for null, or an object with data_ptr(). */
static uint64_t address_of(PyObject *value) {
  if (value == Py_None) return 0;
  /* Asked first: to raise and drop an AttributeError takes longer than a launch. */
  if (PyType_GetFlags(value->type) & Py_TPFLAGS_LONG_SUBCLASS) return PyLong_AsUnsignedLongLongMask(value);
  PyObject *number = PyObject_CallMethodObjArgs(value, data_ptr_name, NULL);
  if (number) {
    uint64_t address = PyLong_AsUnsignedLongLongMask(number);
    Py_DecRef(number);
    return address;
  }
  if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "a pointer argument must be None, an integer or have data_ptr(), not %R", value);
  }
  return 0;
}

static uint64_t integer_of(const Slot *slot, PyObject *value) {
  if (slot->code == 'Q') return PyLong_AsUnsignedLongLong(value);
  long long number = PyLong_AsLongLong(value);
  if (slot->code == 'q' || PyErr_Occurred()) return (uint64_t)number;
  int is_unsigned = slot->code < 'a'; /* B, H, I */
  long long limit = 1ll << (8 * slot->size - !is_unsigned);
  if (number >= limit || number < (is_unsigned ? 0 : -limit))
    PyErr_Format(PyExc_OverflowError, "kernel argument %R does not fit into %d bits", value, 8 * slot->size);
  return (uint64_t)number;
}

/* Return the bits of a value as the kernel reads them, with a Python exception set when it cannot be converted. */
static uint64_t bits_of(const Slot *slot, PyObject *value) {
  switch (slot->code) {
  case 'P': return address_of(value);
  case '?': return (uint64_t)(PyObject_IsTrue(value) == 1);
  case 'f': return float_bits((float)PyFloat_AsDouble(value));
  case 'y': return float_bits((float)PyFloat_AsDouble(value)) >> 16; /* towards zero, as Triton's launchers */
  case 'e': return half_bits(PyFloat_AsDouble(value));
  case 'd': {
    union { double value; uint64_t bits; } both = {PyFloat_AsDouble(value)};
    return both.bits;
  }
  default: return integer_of(slot, value);
  }
}

/* Return a new reference to the value at a path inside nested tuples, or NULL. */
static PyObject *value_at(PyObject *value, PyObject *path) {
  Py_IncRef(value);
  Py_ssize_t depth = PyTuple_Size(path);
  for (Py_ssize_t step = 1; value && step < depth; step++) {
    PyObject *part = PySequence_GetItem(value, PyLong_AsLong(PyTuple_GetItem(path, step)));
    Py_DecRef(value);
    value = part;
  }
  return value;
}

static int fill(const Plan *plan, PyObject *const *own, Py_ssize_t given, Argument *arguments, uint64_t *bits) {
  for (int i = 0; i < plan->slots; i++) {
    const Slot *slot = &plan->slot[i];
    if (slot->first >= given) {
      PyErr_Format(PyExc_TypeError, "the kernel needs argument %zd, the launch has %zd", slot->first, given);
      return -1;
    }
    if (slot->path) {
      PyObject *value = value_at(own[slot->first], slot->path);
      if (!value) return -1;
      bits[i] = bits_of(slot, value);
      Py_DecRef(value);
    } else {
      bits[i] = bits_of(slot, own[slot->first]);
    }
    int is_pointer = slot->code == 'P';
    arguments[i] = (Argument){ARGUMENT_STRUCTURE, NULL, is_pointer ? POINTER : VALUE, (uint32_t)i, slot->size,
                              is_pointer ? (const void *)(uintptr_t)bits[i] : &bits[i], 0};
  }
  return PyErr_Occurred() ? -1 : 0;
}

static int enqueue(const Plan *plan, void *queue, void *kernel, const size_t *global, uint32_t count,
                   const Argument *arguments) {
  const size_t local[3] = {plan->threads, 1, 1};
  if (plan->enqueue)
    return plan->enqueue(queue, kernel, 3, NULL, global, local, count, arguments, NULL, 0, NULL, NULL);
  for (uint32_t i = 0; i < count; i++) {
    const Argument *argument = &arguments[i];
    int result = argument->type == POINTER ? plan->set_pointer(kernel, i, NULL, argument->value)
                 : argument->type == LOCAL ? plan->set_local(kernel, i, argument->size, NULL)
                                           : plan->set_value(kernel, i, argument->size, NULL, argument->value);
    if (result) return result;
  }
  return plan->enqueue_set(queue, kernel, 3, NULL, global, local, 0, 0, 0, 0, 0);
}

/* Call a function for its effect; return 0, or -1 with its exception. */
static int called(PyObject *function, PyObject *argument) {
  PyObject *result = PyObject_CallFunctionObjArgs(function, argument, NULL);
  if (!result) return -1;
  Py_DecRef(result);
  return 0;
}

/* Check a kernel before its first launch. */
static int adopt(Plan *plan, PyObject *function, void *kernel) {
  PyObject *answer = PyObject_CallFunctionObjArgs(plan->verify, function, NULL);
  if (!answer) return -1;
  size_t local = PyLong_AsSize_t(answer);
  Py_DecRef(answer);
  if (PyErr_Occurred()) return -1;
  plan->local = local;
  plan->kernel = kernel;
  return 0;
}

static int submit(const Plan *plan, PyObject *const *given, Py_ssize_t count, size_t local) {
  const long x = PyLong_AsLong(given[0]), y = PyLong_AsLong(given[1]), z = PyLong_AsLong(given[2]);
  void *queue = PyLong_AsVoidPtr(given[3]), *kernel = PyLong_AsVoidPtr(given[4]);
  Argument arguments[MAX_ARGUMENTS];
  uint64_t bits[MAX_ARGUMENTS];
  if (PyErr_Occurred() || fill(plan, given + LEADING, count - LEADING, arguments, bits)) return -1;
  /* A program's number is a signed integer of 32 bits. */
  if (x > INT32_MAX || y > INT32_MAX || z > INT32_MAX) {
    PyErr_Format(PyExc_OverflowError, "a grid of %ld, %ld, %ld programs: at most %d each", x, y, z, INT32_MAX);
    return -1;
  }
  if (x <= 0 || y <= 0 || z <= 0) return 0;
  uint32_t n = (uint32_t)plan->slots;
  for (int i = 0; i < plan->scratch; i++, n++)
    arguments[n] = (Argument){ARGUMENT_STRUCTURE, NULL, POINTER, n, sizeof(void *), NULL, 0};
  if (local) {
    arguments[n] = (Argument){ARGUMENT_STRUCTURE, NULL, LOCAL, n, local, NULL, 0};
    n++;
  }
  const size_t global[3] = {(size_t)x * plan->threads, (size_t)y, (size_t)z};
  int result = enqueue(plan, queue, kernel, global, n, arguments);
  if (!result) return 0;
  PyObject *number = PyLong_FromLong(result);
  if (number) {
    called(plan->fail, number);
    Py_DecRef(number);
  }
  return -1;
}

/* (grid_x, grid_y, grid_z, stream, function, packed_metadata, launch_metadata, enter, exit, *arguments) */
static PyObject *launch(PyObject *capsule, PyObject *const *given, Py_ssize_t count) {
  Plan *plan = PyCapsule_GetPointer(capsule, CAPSULE);
  if (!plan) return NULL;
  if (count < LEADING) return PyErr_Format(PyExc_TypeError, "a launch has at least %d arguments", LEADING);
  PyObject *metadata = given[6], *enter = given[7], *leave = given[8];
  if (enter != Py_None && called(enter, metadata)) return NULL;
  void *kernel = PyLong_AsVoidPtr(given[4]);
  if (PyErr_Occurred() || (kernel != plan->kernel && adopt(plan, given[4], kernel))) return NULL;
  if (submit(plan, given, count, plan->local)) return NULL;
  if (leave != Py_None && called(leave, metadata)) return NULL;
  Py_IncRef(Py_None);
  return Py_None;
}

static PyMethodDef launch_method = {"launch", (void *)launch, METH_FASTCALL, NULL};

static void release(Plan *plan) {
  for (int i = 0; i < plan->slots; i++) Py_DecRef(plan->slot[i].path);
  Py_DecRef(plan->verify);
  Py_DecRef(plan->fail);
  PyMem_Free(plan);
}

static void release_capsule(PyObject *capsule) { release(PyCapsule_GetPointer(capsule, CAPSULE)); }

static int read_slot(Slot *slot, char code, PyObject *path) {
  *slot = (Slot){code, (unsigned char)size_of(code), 0, NULL};
  if (!slot->size) {
    PyErr_Format(PyExc_ValueError, "unknown argument code %d", code);
    return -1;
  }
  PyObject *first = PyTuple_GetItem(path, 0);
  if (!first) return -1;
  slot->first = PyLong_AsLong(first);
  if (PyTuple_Size(path) > 1) {
    Py_IncRef(path);
    slot->path = path;
  }
  return PyErr_Occurred() ? -1 : 0;
}

/* launcher(functions, codes, paths, scratch_pointers, threads, verify, fail) -> launch */
static PyObject *launcher(PyObject *module, PyObject *given) {
  (void)module;
  PyObject *functions, *code_bytes, *paths, *verify, *fail;
  int scratch;
  Py_ssize_t threads, count;
  char *codes;
  if (!PyArg_ParseTuple(given, "OOOinOO", &functions, &code_bytes, &paths, &scratch, &threads, &verify, &fail) ||
      PyBytes_AsStringAndSize(code_bytes, &codes, &count))
    return NULL;
  if (count + scratch + 1 > MAX_ARGUMENTS || count != PyTuple_Size(paths) || PyTuple_Size(functions) != 5)
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "%zd arguments, %d scratch", count, scratch);
  Plan *plan = PyMem_Malloc(sizeof(Plan) + (size_t)count * sizeof(Slot));
  if (!plan) return PyErr_NoMemory();
  void *address[5];
  for (int i = 0; i < 5; i++) address[i] = PyLong_AsVoidPtr(PyTuple_GetItem(functions, i));
  *plan = (Plan){(Enqueue *)address[0], (SetValue *)address[1], (SetPointer *)address[2], (SetLocal *)address[3],
                 (EnqueueSet *)address[4], (size_t)threads, verify, fail, NULL, 0, 0, scratch};
  Py_IncRef(verify);
  Py_IncRef(fail);
  while (plan->slots < count && !PyErr_Occurred()) {
    int i = plan->slots++;
    if (read_slot(&plan->slot[i], codes[i], PyTuple_GetItem(paths, i))) break;
  }
  PyObject *capsule = PyErr_Occurred() ? NULL : PyCapsule_New(plan, CAPSULE, release_capsule);
  if (!capsule) {
    release(plan);
    return NULL;
  }
  PyObject *function = PyCFunction_NewEx(&launch_method, capsule, NULL);
  Py_DecRef(capsule);
  return function;
}

static PyMethodDef methods[] = {{"launcher", (void *)launcher, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyModuleDef definition = {
    .base = {{1, NULL}, NULL, 0, NULL}, .name = "_launcher", .size = -1, .methods = methods};

PYTHON_INIT PyObject *PyInit__launcher(void) {
  data_ptr_name = PyUnicode_InternFromString("data_ptr");
  PyObject *module = data_ptr_name ? PyModule_Create2(&definition, PYTHON_ABI_VERSION) : NULL;
  if (module && (PyModule_AddIntConstant(module, "INTERFACE", INTERFACE) ||
                 PyModule_AddIntConstant(module, "MAX_ARGUMENTS", MAX_ARGUMENTS))) {
    Py_DecRef(module);
    return NULL;
  }
  return module;
}

#ifdef _WIN32
/* The entry point of a DLL without a C runtime. */
int __stdcall DllMainCRTStartup(void *instance, unsigned long reason, void *reserved) {
  (void)instance, (void)reason, (void)reserved;
  return 1;
}
#endif
