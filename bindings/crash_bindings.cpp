#include "crash_bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <string>
#include <utility>

#include "component/component.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cxloom {

namespace {

std::string rule_text(BrokenRule rule) {
  switch (rule) {
    case BrokenRule::kAnswered: return "answered";
    case BrokenRule::kRead: return "read";
    default: return "none";
  }
}

nb::dict line_of(const LostLine& lost) {
  nb::dict line;
  line["address"] = lost.line.address().value();
  line["recovered_version"] = lost.recovered;
  line["needed_version"] = lost.needed;
  line["rule"] = rule_text(lost.rule);
  return line;
}

nb::list lines_of(const std::vector<LostLine>& lost) {
  nb::list lines;
  for (const LostLine& each : lost) lines.append(line_of(each));
  return lines;
}

nb::dict request_of(const HistoryRequest& request, const Spec& spec) {
  static constexpr const char* kKinds[] = {"read", "write", "atomic", "flush"};
  nb::dict result;
  result["device"] = spec.workloads[request.requester].device;
  result["kind"] = kKinds[static_cast<std::size_t>(request.access.kind)];
  result["address"] = request.access.address.value();
  result["size"] = request.access.size;
  result["fence"] = request.access.dependence == kAllBefore;
  return result;
}

/// Steps have the numbers of nodes.
nb::dict history_of(const LossSearch& search) {
  nb::dict result;
  result["runs"] = search.runs();
  if (!search.shown()) return result;
  const LossShown& shown = *search.shown();
  nb::list requests;
  for (const HistoryRequest& each : search.requests()) requests.append(request_of(each, search.spec()));
  result["requests"] = requests;
  nb::list steps;
  for (const HistoryStep& each : shown.steps) {
    const std::string_view what = to_text(each.what);
    nb::dict step;
    step["time_ns"] = each.at.ns();
    step["node"] = each.node.index();
    step["does"] = nb::str(what.data(), what.size());
    step["address"] = each.line.address().value();
    step["version"] = each.version;
    steps.append(step);
  }
  result["steps"] = steps;
  result["lost_at_ns"] = shown.at.ns();
  result["lost_lines"] = lines_of(shown.lines);
  return result;
}

}  // namespace

nb::dict to_python(const PowerLossFound& found) {
  nb::dict result;
  result["lost"] = lines_of(found.lost);
  result["recoveries"] = found.recovery.recoveries;
  result["longest_ns"] = found.recovery.longest.ns();
  result["one_end"] = found.one_end;
  return result;
}

Look python_look(nb::object look) {
  return [look = std::move(look)] {
    const nb::gil_scoped_acquire acquired;
    look();
  };
}

nb::object python_search(std::unique_ptr<LossSearch> search) { return nb::cast(std::move(search)); }

void bind_crash(nb::module_& m) {
  nb::class_<LossSearch>(m, "LossSearch", "Leaves out requests of a run as long as it still loses something.")
      .def(
          "step",
          [](LossSearch& search, nb::object look) {
            const Look looks = python_look(std::move(look));
            const nb::gil_scoped_release released;
            return search.step(looks);
          },
          "look"_a,
          "One more run; True once no request can be left out any more. `look` is called now and then, and "
          "may raise to end it.")
      .def_prop_ro("left", [](const LossSearch& search) { return search.left().size(); })
      .def("history", &history_of, "The loss that the requests which are left come to.");
}

}  // namespace cxloom
