#include "quantity/quantity.h"

#include "absl/strings/str_cat.h"
#include "bindings/pybind.h"
#include "bindings/read.h"

namespace kueue::python {
namespace {

using namespace py::literals;

// Maximum number of limbs (of nine digits) of a product. It prevents repeated squaring from exhausting
// memory.
constexpr size_t kMaxLimbs = 1024;

Quantity Parse(absl::string_view text) {
  absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
  ThrowIfError(quantity.status());
  return *std::move(quantity);
}

absl::StatusOr<Quantity> Multiply(const Quantity& a, const Quantity& b) {
  if (a.value().size() + b.value().size() > kMaxLimbs) {
    return absl::InvalidArgumentError(
        absl::StrCat("the product would have more than ", 9 * kMaxLimbs, " digits"));
  }
  return a * b;
}

const char* FormatName(const Quantity& quantity) {
  switch (quantity.format()) {
    case QuantityFormat::kBinarySI:
      return "BinarySI";
    case QuantityFormat::kDecimalExponent:
      return "DecimalExponent";
    default:
      return "DecimalSI";
  }
}

// Equal quantities have equal hashes, whatever their formats.
py::ssize_t Hash(const Quantity& quantity) {
  const auto [digits, exponent] = quantity.value().ToDigits();
  return py::hash(py::make_tuple(quantity.IsNegative(), digits, exponent));
}

void BindArithmetic(py::class_<Quantity>& quantity) {
  quantity.def(py::self + py::self)
      .def(py::self - py::self)
      .def("__mul__", &Multiply, "other"_a, py::is_operator())
      .def("__neg__", [](const Quantity& self) { return Quantity(-self.value(), self.format()); })
      .def("__bool__", [](const Quantity& self) { return !self.IsZero(); })
      .def("__float__", &Quantity::AsDouble)
      .def("__hash__", &Hash)
      .def(py::self == py::self)
      .def(py::self != py::self)
      .def(py::self < py::self)
      .def(py::self <= py::self)
      .def(py::self > py::self)
      .def(py::self >= py::self);
}

// Converts an argument of a method. The error message contains `what` and `wanted`.
template <typename T>
T Argument(const py::object& value, absl::string_view what, absl::string_view wanted) {
  try {
    return py::cast<T>(value);
  } catch (const py::cast_error&) {
    ThrowIfError(absl::InvalidArgumentError(
        absl::StrCat("Quantity: ", what, ": is ", Briefly(value), "; it must be ", wanted)));
    throw;
  }
}
std::string TextArgument(const py::object& value, absl::string_view what) {
  return Argument<std::string>(value, what, "a string");
}

std::string Repr(const Quantity& quantity) { return absl::StrCat("Quantity(\"", quantity.ToText(), "\")"); }

py::tuple Reduce(const py::handle& self) {
  const std::string text = py::cast<const Quantity&>(self).ToText();
  return py::make_tuple(py::type::of(self), py::make_tuple(text));
}

int64_t AsCpu(const Quantity& quantity) { return ResourceValue("cpu", quantity); }

int64_t AsUnits(const Quantity& quantity) { return ResourceValue("", quantity); }

int64_t AsRequest(const Quantity& quantity, const py::object& resource) {
  return ResourceValue(TextArgument(resource, "resource"), quantity);
}

int64_t AsQuota(const Quantity& quantity, const py::object& resource) {
  return AmountFromQuantity(TextArgument(resource, "resource"), quantity).value();
}

std::string Format(const py::object& resource, const py::object& value, bool as_bytes) {
  return ResourceQuantityString(TextArgument(resource, "resource"),
                                Argument<int64_t>(value, "value", "an integer of 64 bits"), as_bytes);
}

std::string Printed(const py::object& value) {
  const std::string text = TextArgument(value, "text");
  Parse(text);
  return PrintedText(text);
}

void BindTexts(py::class_<Quantity>& quantity) {
  quantity.def("__str__", &Quantity::ToText, "Return the canonical text.")
      .def("__repr__", &Repr)
      .def("__reduce__", &Reduce)
      .def_property_readonly("format_name", &FormatName,
                             "Format of the quantity: DecimalSI, BinarySI or DecimalExponent.")
      .def_static(
          "format", &Format, "resource"_a, "value"_a, "as_bytes"_a = false,
          "Format an integer of a resource (pkg/resources/resource_formatter.go:ResourceQuantityString).")
      .def_static("printed", &Printed, "text"_a,
                  "Return the text that Kubernetes prints for a quantity parsed from `text`; some texts are "
                  "kept unchanged.");
}

void BindIntegers(py::class_<Quantity>& quantity) {
  quantity
      .def_property_readonly("as_cpu", &AsCpu,
                             "Value in thousandths, as used for cpu: rounded up, clamped to int64.")
      .def_property_readonly(
          "as_units", &AsUnits,
          "Value in whole units, as used for all resources except cpu: rounded up, clamped to int64.")
      .def("request", &AsRequest, "resource"_a,
           "Return the integer for a request or usage of a resource "
           "(pkg/resources/requests.go:ResourceValue).")
      .def("quota", &AsQuota, "resource"_a,
           "Return the integer for a quota; 2**63 - 1 is Unlimited "
           "(pkg/resources/amount.go:AmountFromQuantity).");
}

Quantity FromTextOrInteger(const py::object& value) {
  if (!PyUnicode_Check(value.ptr()) && !PyLong_Check(value.ptr())) {
    ThrowIfError(absl::InvalidArgumentError(absl::StrCat(
        "quantity: is of type ", Py_TYPE(value.ptr())->tp_name, "; it must be a string or an integer")));
  }
  try {
    return Parse(py::cast<std::string>(py::str(value)));
  } catch (const py::cast_error&) {
    ThrowIfError(
        absl::InvalidArgumentError("quantity: is not valid Unicode; it must be a string without surrogates"));
    throw;
  } catch (const py::error_already_set&) {  // Python limits integer conversion to a few thousand digits.
    ThrowIfError(absl::InvalidArgumentError("quantity: the integer has too many digits"));
    throw;
  }
}

}  // namespace

void BindQuantity(py::module_& module) {
  py::class_<Quantity> quantity(
      module, "Quantity", py::is_final(),
      "An exact resource quantity in the notation of Kubernetes, e.g. 500m, 64Gi or 1e3.");
  quantity.def(py::init(&FromTextOrInteger), "value"_a);
  BindArithmetic(quantity);
  BindTexts(quantity);
  BindIntegers(quantity);
}

}  // namespace kueue::python
