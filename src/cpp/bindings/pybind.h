// The one include of pybind11: every binding file includes this and nothing else of it.
#ifndef KUEUE_BINDINGS_PYBIND_H_
#define KUEUE_BINDINGS_PYBIND_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

#endif  // KUEUE_BINDINGS_PYBIND_H_
