#include "devices/selectors.h"

#include <string>
#include <utility>

#include "bindings/pybind.h"

namespace kueue::python {
namespace {

// CEL evaluated by Python. May be called from any thread, with or without the GIL.
class PythonLanguage : public SelectorLanguage {
 public:
  std::string Compile(const std::string& expression) override {
    const py::gil_scoped_acquire acquire;
    return Function("compile_error")(expression).cast<std::string>();
  }
  SelectorAnswer Evaluate(const std::string& expression, const std::string& subject) override {
    const py::gil_scoped_acquire acquire;
    const auto answer = Function("evaluate")(expression, subject).cast<std::pair<bool, std::string>>();
    return {answer.first, answer.second};
  }

 private:
  static py::object Function(const char* name) { return py::module_::import("kueuepy.selectors").attr(name); }
};

}  // namespace

// Never freed, because engines in any thread may be using it.
void BindDevices(py::module_&) { SetSelectorLanguage(new PythonLanguage); }

}  // namespace kueue::python
