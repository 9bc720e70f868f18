#include "interconnect/wire/flit_params.hpp"

#include "base/schema.hpp"

namespace cxloom {

void LinkErrorParams::describe(Schema<LinkErrorParams>& schema) {
  schema.doc("Errors on the wire. What they cost: a retry, and all that was sent meanwhile.");
  schema.field("bit_error_rate", &LinkErrorParams::bit_error_rate)
      .where([](double rate) { return rate >= 0.0 && rate < 1.0; }, "at least 0, below 1")
      .doc(
          "Probability that a bit arrives wrong, each for itself. 256 B flits correct a wrong byte in each "
          "of three interleaved groups (FEC); what is left makes a retry.")
      .source("PCIe: below 1e-12 up to 32 GT/s, 1e-6 before correction from 64 GT/s on");
  schema.field("every", &LinkErrorParams::every)
      .min(1)
      .default_text("none")
      .doc("Corrupts every so many-th flit, beyond correction: for exact experiments.");
}

void IdeParams::describe(Schema<IdeParams>& schema) {
  schema.doc("Integrity and data encryption (IDE): a MAC slot per aggregation of flits.");
  schema
      .choice("mode", &IdeParams::mode,
              {{"off", IdeMode::kOff}, {"containment", IdeMode::kContainment}, {"skid", IdeMode::kSkid}})
      .doc("containment: messages wait for the MAC of their flits. skid: they are used before it.");
  schema.field("aggregation", &IdeParams::aggregation)
      .min(1)
      .max(255)
      .default_text("5 (68B) or 2 (256B)")
      .doc("Flits that share a MAC.")
      .source("CXL 3.x, chapter 11: five 68 B flits, two 256 B flits");
  schema.effective(
      "aggregation", [](const IdeParams& ide) { return ide.mode != IdeMode::kOff; },
      "without integrity checks, which an aggregation needs: set mode: containment or skid");
}

void OutageParams::describe(Schema<OutageParams>& schema) {
  schema.doc("A time in which the link is down, in both directions. What waits goes on when it is up again.");
  schema.field("at", &OutageParams::at).default_text("never").doc("When the link goes down.");
  schema.field("length", &OutageParams::length).min(Time{1}).doc("For how long.");
  schema.field("fail", &OutageParams::fail)
      .doc(
          "Requests that would cross the link while it is down fail with an error response, instead of "
          "waiting.");
  const std::string unless = "without a time at which the outage begins: set at";
  schema.effective("length", [](const OutageParams& outage) { return outage.at.has_value(); }, unless);
  schema.effective("fail", [](const OutageParams& outage) { return outage.at || !outage.fail; }, unless);
}

void DegradedParams::describe(Schema<DegradedParams>& schema) {
  schema.doc("From a time on, fewer lanes or a lower speed, in both directions.");
  schema.field("at", &DegradedParams::at).default_text("never").doc("When the link degrades.");
  schema.field("phy", &DegradedParams::phy)
      .default_text("")
      .doc("What it is from then on: pcie5-x4, pcie4-x16.");
  schema.rule("degraded needs both at and phy",
              [](const DegradedParams& params) { return params.at.has_value() == params.phy.has_value(); });
}

}  // namespace cxloom
