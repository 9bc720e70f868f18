#include "system/event_params.hpp"

#include <algorithm>

#include "base/schema.hpp"

namespace cxloom {

namespace {

template <class Params>
void describe_part(Schema<Params>& schema) {
  schema.field("link", &Params::link)
      .default_text("none")
      .where([](const auto& names) { return names.empty() || names.size() == 2; },
             "the two devices that it joins, such as [sw0, mem1]")
      .doc("The link between two devices; all of them where there are several.");
  schema.field("number", &Params::number)
      .min(1)
      .default_text("all of them")
      .doc("Which of several links between the two devices, in the order of the spec, from 1.");
  schema.field("device", &Params::device)
      .default_text("none")
      .doc("A switch: all its links, and what it holds.");
  schema.rule("exactly one of link and device is needed",
              [](const Params& part) { return part.link.empty() == part.device.has_value(); });
  schema.effective(
      "number", [](const Params& part) { return !part.link.empty(); }, "without a link: set link");
}

bool concerns(const FailedPart& part, const std::string& a, const std::string& b) {
  if (part.device) return *part.device == a || *part.device == b;
  return part.link == std::vector{a, b} || part.link == std::vector{b, a};
}

}  // namespace

std::string FailedPart::described() const {
  if (device) return "device " + *device;
  return "link " + link[0] + "-" + link[1] + (number ? "#" + std::to_string(*number) : "");
}

void FailParams::describe(Schema<FailParams>& schema) {
  schema.doc("A link or a switch stops working.");
  describe_part(schema);
  schema.field("reroute_time", &FailParams::reroute_time)
      .doc(
          "Time from the failure until routes lead around it. Until then what wants to cross it waits; then "
          "it "
          "leaves by another way, or is answered with an error where there is none.")
      .source(
          "own choice: hardware that reports a link down; a fabric manager in software takes milliseconds");
}

void RepairParams::describe(Schema<RepairParams>& schema) {
  schema.doc("A link or a switch that failed works again, and routes lead over it from that instant on.");
  describe_part(schema);
}

void EventParams::describe(Schema<EventParams>& schema) {
  schema.doc("Something that happens during the run, before anything else at its instant.");
  schema.field("at", &EventParams::at)
      .required()
      .where([](const Time& at) { return at > Time{}; },
             "more than 0 s: what holds from the beginning is the system")
      .doc("When, from the beginning of the run.");
  schema.field("fail", &EventParams::fail).default_text("none").doc("A link or a switch stops working.");
  schema.field("repair", &EventParams::repair).default_text("none").doc("It works again.");
  schema.rule("an event has exactly one action", [](const EventParams& event) {
    return static_cast<int>(event.fail.has_value()) + static_cast<int>(event.repair.has_value()) == 1;
  });
}

bool may_fail(const std::vector<EventParams>& events, const std::string& a, const std::string& b) {
  return std::ranges::any_of(
      events, [&](const EventParams& event) { return event.fail && concerns(*event.fail, a, b); });
}

}  // namespace cxloom
