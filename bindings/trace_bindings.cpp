#include "trace_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/period.hpp"
#include "base/schema.hpp"
#include "system/spec/spec.hpp"
#include "trace_columns.hpp"
#include "value_conversion.hpp"
#include "workload/trace/foreign.hpp"
#include "workload/trace/format.hpp"
#include "workload/trace/lackey.hpp"
#include "workload/trace/lines.hpp"
#include "workload/trace/page_map.hpp"
#include "workload/trace/text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cxloom {

namespace {

const TraceFormat& format_named(std::string_view name) {
  if (const TraceFormat* format = trace_format(name)) return *format;
  throw std::invalid_argument("no form of this name");  // a bug of the caller
}

std::string_view times_of(const TraceFormat& format) {
  switch (format.times) {
    case TraceTimes::kNone: return "none";
    case TraceTimes::kTicks: return "ticks";
    case TraceTimes::kStandard: return "standard";
  }
  return {};
}

// The facts of the forms that Python needs, by their names.
nb::dict declared_formats() {
  nb::dict formats;
  for (const TraceFormat& format : trace_formats()) {
    nb::dict about;
    about["about"] = format.about;
    about["line"] = format.line;
    about["times"] = times_of(format);
    about["levels"] = format.levels;
    about["suffix"] = format.suffix;
    about["binary"] = format.record > 0;
    formats[nb::str(format.name.data(), format.name.size())] = about;
  }
  return formats;
}

nb::list names_of(const std::vector<const TraceFormat*>& formats) {
  nb::list names;
  for (const TraceFormat* format : formats) names.append(format->name);
  return names;
}

// Binds a parser that is fed blocks and gives their records by and by.
template <class Parser>
void bind_feeding(nb::class_<Parser>& parser) {
  parser
      .def(
          "feed",
          [](Parser& self, const nb::bytes& block) {
            return parsed([&](std::vector<Access>& accesses) {
              self.feed(view_of(block));
              self.take(accesses);
            });
          },
          "block"_a, "Accesses that the block completes; `more` gives the others.")
      .def(
          "more",
          [](Parser& self) { return parsed([&](std::vector<Access>& accesses) { self.take(accesses); }); },
          "Accesses that are left of what was fed; none if all were given.")
      .def(
          "finish",
          [](Parser& self) {
            return parsed([&](std::vector<Access>& accesses) {
              self.finish();
              self.take(accesses);
            });
          },
          "The last access if its line has no end. Raises InputError if there was no access.");
}

// An option of a reader, as the spec's key of that name reads it. Throws InputError.
template <class T>
T option(const char* name, nb::handle given) {
  return with_path(name, [&] {
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

// TraceError becomes cxloom.base.errors.InputError with its line; tried before the translator of InputError,
// as the one registered last is.
void translate_trace_error(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const TraceError& error) {
    const InputError::Detail& detail = error.detail();
    const nb::object type = nb::module_::import_("cxloom.base.errors").attr("InputError");
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

  nb::class_<TextTraceParser> text_parser(m, "TextTraceParser",
                                          "Reads the text form of a trace, block by block.");
  text_parser.def(
      "__init__",
      [](TextTraceParser* self, nb::handle tick) {
        new (self) TextTraceParser(option<Period>("tick", tick));
      },
      "tick"_a = "1ps");
  bind_feeding(text_parser);

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
      .def(
          "more", [](LackeyParser&) { return AccessBatch{}; }, "None: feeding gives all that there is.")
      .def_prop_ro("instructions", &LackeyParser::instructions);

  nb::class_<ForeignTraceParser> foreign_parser(m, "ForeignTraceParser",
                                                "Reads the traces of other tools, block by block.");
  foreign_parser
      .def(
          "__init__",
          [](ForeignTraceParser* self, const std::string& form, nb::handle tick, nb::handle levels) {
            new (self) ForeignTraceParser(
                format_named(form),
                {option<Period>("tick", tick), option<std::vector<std::uint64_t>>("levels", levels)});
          },
          "form"_a, "tick"_a = "1ps", "levels"_a = nb::make_tuple())
      .def_prop_ro("remark", &ForeignTraceParser::remark,
                   "What was changed so far that its user should know; usually nothing.");
  bind_feeding(foreign_parser);
  m.def(
      "trace_formats_of_text",
      [](const nb::bytes& head, bool whole) { return names_of(formats_of_text(view_of(head), whole)); },
      "head"_a, "whole"_a,
      "The forms of other tools' traces that a text can be of, by its first lines; `whole`: nothing is cut "
      "off.");
  m.def(
      "trace_formats_of_records",
      [](const nb::bytes& head, bool whole) { return names_of(formats_of_records(view_of(head), whole)); },
      "head"_a, "whole"_a, "The forms of other tools' traces that bytes can be of.");
  m.attr("TRACE_FORMATS") = declared_formats();

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
