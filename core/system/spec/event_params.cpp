#include "system/spec/event_params.hpp"

#include <algorithm>

#include "base/schema.hpp"
#include "device/memory/extent_schema.hpp"
#include "device/switch/bound_schema.hpp"

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
      .doc(
          "A switch: all its links, and what it holds. Or a memory: all its links (heads), the requests in "
          "it, and what its memory holds unless that is persistent. Or a host or an accelerator, which "
          "crashes: it makes no more requests, and its cache and its memory are lost.");
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
  schema.doc("A link, a switch, a memory or a host stops working.");
  describe_part(schema);
  schema.field("reroute_time", &FailParams::reroute_time)
      .doc(
          "Time from the failure until routes lead around it. Until then what wants to cross it waits; then "
          "it leaves by another way, or is answered with an error where there is none.")
      .source(
          "own choice: hardware that reports a link down; a fabric manager in software takes milliseconds");
}

void RepairParams::describe(Schema<RepairParams>& schema) {
  schema.doc(
      "A link or a device that failed works again, and routes lead over it from that instant on. A host or "
      "an accelerator has booted.");
  describe_part(schema);
  schema.field("cleared", &RepairParams::cleared)
      .doc(
          "Of a memory: a reset, or a device that takes the place of the failed one, has cleared the memory "
          "that is not persistent, so that reads of it are served. Otherwise they are answered with poison "
          "until the whole line is written.")
      .source("CXL 3.x, section 9.7: CXL reset, with memory clear or without");
  schema.field("restart", &RepairParams::restart)
      .doc(
          "Of a host or an accelerator that had crashed: its work goes on with the request behind the last "
          "that it made. Otherwise its work is over, and what it had still to do is counted (never_made).");
}

namespace {

template <class Params>
void describe_place(Schema<Params>& schema) {
  schema.field("switch", &Params::switch_name).required().doc("A switch with vcs.");
  schema.field("vcs", &Params::vcs).doc("Which of its virtual switches, from 0.");
  schema.field("vppb", &Params::vppb).doc("Which vPPB of that, from 0.");
}

std::string place_of(const std::string& name, std::uint32_t vcs, std::uint32_t vppb) {
  return name + " vcs " + std::to_string(vcs) + " vppb " + std::to_string(vppb);
}

}  // namespace

void BindParams::describe(Schema<BindParams>& schema) {
  schema.doc("A device, or a logical device of a memory, is bound to a free vPPB of a virtual CXL switch.");
  describe_place(schema);
  describe_bound(schema);
}

void UnbindParams::describe(Schema<UnbindParams>& schema) {
  schema.doc("What is bound to a vPPB is unbound: new requests to it are answered with an error.");
  describe_place(schema);
  schema.field("surprise", &UnbindParams::surprise)
      .doc(
          "Whether the requests under way fail, too, and caches lose their lines of coherent memory. "
          "Otherwise they are answered as if nothing had happened (managed removal), and coherent memory "
          "takes back the lines that caches have of it.");
}

void ExtentEventParams::describe(Schema<ExtentEventParams>& schema) {
  schema.doc("An extent of a memory with dynamic_capacity.");
  schema.field("device", &ExtentEventParams::device).required().doc("The memory.");
  describe_extent(schema);
}

void MovePagesParams::describe(Schema<MovePagesParams>& schema) {
  schema.doc(
      "Pages of a requester's program are moved from one memory to another: docs/model/placement.md. Only "
      "where its addresses are placed.");
  schema.field("requester", &MovePagesParams::requester)
      .required()
      .doc("The host or accelerator whose program it is.");
  schema.field("from", &MovePagesParams::from).required().doc("The memory that the pages are in.");
  schema.field("to", &MovePagesParams::to).required().doc("The memory that they go to.");
  schema.field("share", &MovePagesParams::share)
      .fraction()
      .doc(
          "Which share of the pages that are in `from` at that time goes: those that were touched first; "
          "parts of a page are left out.");
  schema.field("base", &MovePagesParams::base)
      .default_text("all")
      .doc("First of the program's own addresses whose pages go; with size.");
  schema.field("size", &MovePagesParams::size)
      .min(Bytes{1})
      .default_text("all")
      .doc("Bytes of these addresses; a page goes if its first byte is one of them.");
  schema.field("rate", &MovePagesParams::rate)
      .default_text("unlimited")
      .doc("Bytes per second of the pages that are read at most, and as many are written.");
  schema.field("copy", &MovePagesParams::copy)
      .doc(
          "Whether the pages' lines are read and written. Otherwise the pages are at their new place at "
          "once: what moved them is elsewhere, or takes no time.");
  schema.rule("base and size are given together", [](const MovePagesParams& params) {
    return params.base.has_value() == params.size.has_value();
  });
  schema.effective(
      "rate", [](const MovePagesParams& params) { return params.copy; },
      "without a copy: leave copy: false out");
}

void OfflineParams::describe(Schema<OfflineParams>& schema) {
  schema.doc(
      "A memory is taken out of use, as it is before it is pulled out: all pages of programs leave it over "
      "the links, and what caches have of it is written back: docs/model/removal.md.");
  schema.field("device", &OfflineParams::device).required().doc("The memory.");
  schema.field("to", &OfflineParams::to)
      .default_text("all others, the nearest first")
      .doc("The memories that its pages go to, each page to the first of them that has a free frame.");
  schema.field("rate", &OfflineParams::rate)
      .default_text("unlimited")
      .doc("Bytes per second of each program's pages that are read at most, and as many are written.");
}

void ViralParams::describe(Schema<ViralParams>& schema) {
  schema.doc(
      "A memory contains an error that cannot be corrected: it answers all reads with poison and all writes "
      "with an error, and keeps no write, until it is reset: docs/model/failures.md.");
  schema.field("device", &ViralParams::device).required().doc("The memory.");
}

void ResetParams::describe(Schema<ResetParams>& schema) {
  schema.doc("A memory that is viral is reset, and serves requests again.");
  schema.field("device", &ResetParams::device).required().doc("The memory.");
  schema.field("cleared", &ResetParams::cleared)
      .doc(
          "The reset has cleared the memory that is not persistent, so that reads of it are served. "
          "Otherwise they are answered with poison until the whole line is written.")
      .source("CXL 3.x, section 9.7: CXL reset, with memory clear or without");
}

void SpareParams::describe(Schema<SpareParams>& schema) {
  schema.doc(
      "A spare part of a memory, such as a row, takes the place of another, whose lines are copied there: "
      "docs/model/sparing.md.");
  const auto whole = [](const Bytes& bytes) { return bytes.count() > 0 && bytes.count() % kLineBytes == 0; };
  schema.field("device", &SpareParams::device).required().doc("The memory, with spares.");
  schema.field("base", &SpareParams::base)
      .required()
      .where([](const Address& base) { return base.value() % kLineBytes == 0; }, "whole lines of 64 B")
      .doc("Where the part begins, in the memory's own addresses.");
  schema.field("size", &SpareParams::size)
      .where(whole, "whole lines of 64 B")
      .doc("Bytes of the part: of a line, a row, a bank.")
      .source("a row of a rank of eight devices with pages of 1 KiB");
  schema.field("buffer", &SpareParams::buffer)
      .where(whole, "whole lines of 64 B")
      .doc("Bytes that the memory reads before it writes them.")
      .source("own choice: a line, which takes longest");
}

std::string EventParams::described() const {
  const auto extent = [](const ExtentEventParams& params) {
    return params.device + " " + to_text(params.size) + " from " + to_text(params.base) + " of " +
           params.host + (params.tag.empty() ? "" : ", tag " + params.tag);
  };
  if (add_extent) return "add_extent " + extent(*add_extent);
  if (release_extent) return "release_extent " + extent(*release_extent);
  if (move_pages) {
    return "move_pages of " + move_pages->requester + " from " + move_pages->from + " to " + move_pages->to;
  }
  if (viral) return "viral " + viral->device;
  if (reset) return "reset " + reset->device;
  if (spare) return "spare " + spare->device + " " + to_text(spare->size) + " from " + to_text(spare->base);
  if (offline) return "offline " + offline->device;
  if (fail) return "fail " + fail->described();
  if (repair) return "repair " + repair->described();
  if (bind) return "bind " + place_of(bind->switch_name, bind->vcs, bind->vppb) + " to " + bind->described();
  return "unbind " + place_of(unbind->switch_name, unbind->vcs, unbind->vppb);
}

void EventParams::describe(Schema<EventParams>& schema) {
  schema.doc("Something that happens during the run, before anything else at its instant.");
  schema.field("at", &EventParams::at)
      .required()
      .where([](const Time& at) { return at > Time{}; },
             "more than 0 s: what holds from the beginning is the system")
      .doc("When, from the beginning of the run.");
  schema.field("fail", &EventParams::fail).default_text("none").doc("A link or a device stops working.");
  schema.field("repair", &EventParams::repair).default_text("none").doc("It works again.");
  schema.field("bind", &EventParams::bind)
      .default_text("none")
      .doc("A device comes to a virtual CXL switch.");
  schema.field("unbind", &EventParams::unbind).default_text("none").doc("A device leaves it.");
  schema.field("add_extent", &EventParams::add_extent)
      .default_text("none")
      .doc("A host gets an extent of a memory.");
  schema.field("release_extent", &EventParams::release_extent).default_text("none").doc("It gives it back.");
  schema.field("move_pages", &EventParams::move_pages)
      .default_text("none")
      .doc("Pages of a program go to another memory.");
  schema.field("offline", &EventParams::offline)
      .default_text("none")
      .doc("A memory is taken out of use, so that it can be pulled out.");
  schema.field("spare", &EventParams::spare)
      .default_text("none")
      .doc("A spare part of a memory takes the place of another.");
  schema.field("viral", &EventParams::viral)
      .default_text("none")
      .doc("A memory contains an error: it answers everything with an error.");
  schema.field("reset", &EventParams::reset).default_text("none").doc("It is reset.");
  schema.rule("an event has exactly one action", [](const EventParams& event) {
    return static_cast<int>(event.fail.has_value()) + static_cast<int>(event.repair.has_value()) +
               static_cast<int>(event.bind.has_value()) + static_cast<int>(event.unbind.has_value()) +
               static_cast<int>(event.add_extent.has_value()) +
               static_cast<int>(event.release_extent.has_value()) +
               static_cast<int>(event.move_pages.has_value()) + static_cast<int>(event.offline.has_value()) +
               static_cast<int>(event.spare.has_value()) + static_cast<int>(event.viral.has_value()) +
               static_cast<int>(event.reset.has_value()) ==
           1;
  });
}

bool may_fail(const std::vector<EventParams>& events, const std::string& a, const std::string& b) {
  return std::ranges::any_of(
      events, [&](const EventParams& event) { return event.fail && concerns(*event.fail, a, b); });
}

void put_off_failures(std::vector<EventParams>& events) {
  std::erase_if(events, [](const EventParams& event) { return !event.fail && !event.repair; });
  for (EventParams& event : events) event.at = kPutOff;
}

}  // namespace cxloom
