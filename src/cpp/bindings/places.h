// Conversion of topology placements to Python.
#ifndef KUEUE_BINDINGS_PLACES_H_
#define KUEUE_BINDINGS_PLACES_H_

#include "bindings/pybind.h"
#include "questions/places.h"

namespace kueue::python {

// Converts the placement facts to a dict of the type PlaceFactsView (kueuepy.engine.places).
py::dict ViewPlace(const State& state, const PlaceFacts& facts);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_PLACES_H_
