// Studies of tiering by epochs, for Python.
#include <nanobind/nanobind.h>

#include <utility>

#include "base/schema.hpp"
#include "core_bindings.hpp"
#include "system/epochs/page_study.hpp"
#include "value_conversion.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cxloom {

namespace {

class RunningStudy {
 public:
  RunningStudy(nb::handle spec, nb::handle params)
      : study_(registry(), Spec::read(to_value(spec), registry()),
               with_path("epochs", [&] { return read_params<EpochParams>(to_value(params)); })) {}

  bool advance(std::uint64_t steps) {
    const nb::gil_scoped_release released;
    return study_.advance(steps);
  }
  double now_ns() const { return study_.now().ns(); }
  nb::object result() const { return to_python(study_.result()); }

 private:
  PageStudy study_;
};

}  // namespace

void bind_epochs(nb::module_& m) {
  nb::class_<RunningStudy>(m, "PageStudy", "Tiering of a spec's program over minutes, by epochs.")
      .def(nb::init<nb::handle, nb::handle>(), "spec"_a, "params"_a)
      .def("advance", &RunningStudy::advance, "steps"_a,
           "Goes on with so many steps at most; True when the study is over.")
      .def_prop_ro("now_ns", &RunningStudy::now_ns)
      .def("result", &RunningStudy::result);
}

}  // namespace cxloom
