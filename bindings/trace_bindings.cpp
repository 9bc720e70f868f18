#include "trace_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "system/spec.hpp"
#include "trace_columns.hpp"
#include "value_conversion.hpp"
#include "workload/foreign_trace.hpp"
#include "workload/lackey_trace.hpp"
#include "workload/page_map.hpp"
#include "workload/text_trace.hpp"
#include "workload/trace_lines.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cxloom {

namespace {

// The forms of other simulators' traces, as the command line and the Python side name them.
constexpr std::array<std::pair<std::string_view, ForeignForm>, 4> kForeignForms{
    {{"dramsim3", ForeignForm::kDramsim3},
     {"ramulator2-load-store", ForeignForm::kRamulatorLoadStore},
     {"ramulator2-read-write", ForeignForm::kRamulatorReadWrite},
     {"ramulator2-simple-o3", ForeignForm::kRamulatorSimpleO3}}};

ForeignForm foreign_form(std::string_view name) {
  const auto* found = std::find_if(kForeignForms.begin(), kForeignForms.end(),
                                   [&](const auto& entry) { return entry.first == name; });
  if (found == kForeignForms.end())
    throw std::invalid_argument("no form of this name");  // a bug of the caller
  return found->second;
}

std::optional<std::string> foreign_name_of(std::string_view line) {
  const std::optional<ForeignForm> form = foreign_form_of(line);
  if (!form) return std::nullopt;
  return std::string(kForeignForms[static_cast<std::size_t>(*form)].first);
}

// An option of a reader, as the spec's key of that name reads it. Throws InputError.
template <class T>
T option(const char* name, nb::handle given) {
  return below(name, [&] {
    T value{};
    read_value(to_value(given), value);
    return value;
  });
}

nb::bytes text_of(const nb::dict& columns) {
  std::vector<Access> accesses;
  append_columns(columns, accesses);
  std::string text;
  for (const Access& access : accesses) append_text(access, text);
  return nb::bytes(text.data(), text.size());
}

// TraceError becomes cxloom.errors.InputError with its line; tried before the translator of InputError, as the one
// registered last is.
void translate_trace_error(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const TraceError& error) {
    const InputError::Detail& detail = error.detail();
    const nb::object type = nb::module_::import_("cxloom.errors").attr("InputError");
    const nb::object exception = type(detail.problem, "found"_a = detail.found, "allowed"_a = detail.allowed,
                                      "suggestion"_a = detail.suggestion, "line"_a = error.line());
    PyErr_SetObject(type.ptr(), exception.ptr());
  }
}

}  // namespace

void bind_trace(nb::module_& m) {
  nb::register_exception_translator(translate_trace_error);

  nb::class_<AccessBatch>(m, "Accesses", "Consecutive accesses of a trace as the core holds them.")
      .def("__len__", [](const AccessBatch& batch) { return batch.accesses.size(); })
      .def(
          "columns", [](const AccessBatch& batch) { return columns_of(batch.accesses); },
          "An array for each column of the format, in its order.");

  nb::class_<TextTraceParser>(m, "TextTraceParser", "Reads the text form of a trace, block by block.")
      .def(
          "__init__",
          [](TextTraceParser* self, nb::handle tick) {
            new (self) TextTraceParser(option<Time>("tick", tick));
          },
          "tick"_a = "1ps")
      .def(
          "feed",
          [](TextTraceParser& self, const nb::bytes& block) {
            return parsed([&](std::vector<Access>& accesses) { self.feed(view_of(block), accesses); });
          },
          "block"_a, "The accesses that the block completes.")
      .def(
          "finish",
          [](TextTraceParser& self) {
            return parsed([&](std::vector<Access>& accesses) { self.finish(accesses); });
          },
          "The last access if its line has no end. Raises InputError if there was no access.");

  nb::class_<LackeyParser>(m, "LackeyParser", "Reads the output of valgrind --tool=lackey --trace-mem=yes.")
      .def(nb::init<>())
      .def(
          "feed",
          [](LackeyParser& self, const nb::bytes& block) {
            return parsed([&](std::vector<Access>& accesses) { self.feed(view_of(block), accesses); });
          },
          "block"_a, "The accesses that the block completes.")
      .def(
          "finish", [](LackeyParser& self) { return parsed([&](std::vector<Access>&) { self.finish(); }); },
          "No more accesses. Raises InputError if the input ended within a line or had no access.")
      .def_prop_ro("instructions", &LackeyParser::instructions);

  nb::class_<ForeignTraceParser>(m, "ForeignTraceParser",
                                 "Reads the traces of other memory simulators, block by block.")
      .def(
          "__init__",
          [](ForeignTraceParser* self, const std::string& form, nb::handle tick, nb::handle levels) {
            new (self) ForeignTraceParser(foreign_form(form), option<Time>("tick", tick),
                                          option<std::vector<std::uint64_t>>("levels", levels));
          },
          "form"_a, "tick"_a = "1ps", "levels"_a = nb::make_tuple())
      .def(
          "feed",
          [](ForeignTraceParser& self, const nb::bytes& block) {
            return parsed([&](std::vector<Access>& accesses) { self.feed(view_of(block), accesses); });
          },
          "block"_a, "The accesses that the block completes.")
      .def(
          "finish",
          [](ForeignTraceParser& self) {
            return parsed([&](std::vector<Access>& accesses) { self.finish(accesses); });
          },
          "The last access if its line has no end. Raises InputError if there was no access.");
  m.def("foreign_trace_form", &foreign_name_of, "line"_a,
        "Which other simulator's form of trace a line of text has; None if it is none, or could be another.");
  nb::list forms;
  for (const auto& [name, form] : kForeignForms) forms.append(nb::str(name.data(), name.size()));
  m.attr("FOREIGN_TRACE_FORMS") = nb::tuple(forms);

  nb::class_<Footprint>(m, "Footprint", "Counts the distinct lines and pages of accesses.")
      .def(nb::init<>())
      .def(
          "touch",
          [](Footprint& self, const ColumnIn<std::uint64_t>& address, const ColumnIn<std::uint16_t>& size) {
            const std::size_t count = std::min(address.size(), size.size());
            for (std::size_t i = 0; i < count; ++i) self.touch(Address{address.data()[i]}, size.data()[i]);
          },
          "address"_a, "size"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("lines", &Footprint::lines, "Distinct lines of 64 B.")
      .def_prop_ro("pages", &Footprint::pages, "Distinct pages of 4 KiB.");

  m.def("trace_text_header", &text_trace_header, "The header line of the text form of a trace.");
  m.def("trace_text", &text_of, "columns"_a, "A batch as lines of the text form.");
  m.attr("TRACE_VERSION") = kTraceVersion;
  bind_capture(m);
}

}  // namespace cxloom
