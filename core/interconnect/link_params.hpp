// A link as a person describes it: abstract message cost, duplex, delays, credits.
#pragma once

#include <cstdint>
#include <optional>

#include "base/schema.hpp"
#include "base/units.hpp"
#include "interconnect/class_credits.hpp"

namespace cxloom {

enum class Duplex : std::uint8_t { kFull, kHalf };

/// What a message costs on a wire, in bytes. Links and buses share it; real flits come behind the same two questions.
struct MessageCost {
  Bytes header{16};       ///< of a message without data
  Bytes data_header{16};  ///< of a message with data, besides its payload

  std::uint64_t bytes(std::uint64_t payload) const {
    return payload > 0 ? payload + data_header.count() : header.count();
  }

  /// Declares the two parameters in the schema of the component that has them.
  template <class Params>
  static void describe_in(Schema<Params>& schema, Bytes Params::* header, Bytes Params::* data_header) {
    schema.field("header", header)
        .max(Bytes{4096})
        .doc("Bytes of a message without data (a read request, a write's completion).")
        .source("one 16 B slot: CXL 3.x, chapter 4");
    schema.field("data_header", data_header)
        .max(Bytes{4096})
        .doc("Bytes that a message with data carries besides its payload.")
        .source("one 16 B slot: CXL 3.x, chapter 4");
  }
};

/// What differs in the direction from the second device of a link to the first.
struct ReverseParams {
  std::optional<Bandwidth> bandwidth;
  std::optional<Time> delay;

  static void describe(Schema<ReverseParams>& schema) {
    schema.doc("What differs in the direction from the second device to the first.");
    schema.field("bandwidth", &ReverseParams::bandwidth)
        .default_text("that of the link")
        .doc("Bandwidth in that direction.");
    schema.field("delay", &ReverseParams::delay)
        .default_text("that of the link")
        .doc("Time of flight in that direction.");
  }
};

struct LinkParams {
  Bandwidth bandwidth;
  Time delay;
  std::optional<Time> port_delay;
  Duplex duplex = Duplex::kFull;
  Time turnaround;
  Bytes header{16};
  Bytes data_header{16};
  ClassCredits credits;
  ReverseParams reverse;

  MessageCost cost() const { return {header, data_header}; }

  static void describe(Schema<LinkParams>& schema) {
    schema.doc(
        "A connection between two devices. It runs at the slowest of its own bandwidth and those of its "
        "ports.");
    schema.field("bandwidth", &LinkParams::bandwidth)
        .doc("Bytes a second in each direction; a half-duplex link shares it between the two.");
    schema.field("delay", &LinkParams::delay).doc("Time of flight from end to end.");
    schema.field("port_delay", &LinkParams::port_delay)
        .default_text("that of each device")
        .doc("Time to cross the port, paid at each end of the link.")
        .source("ESF, Table III: 25 ns for a PCIe port");
    schema.choice("duplex", &LinkParams::duplex, {{"full", Duplex::kFull}, {"half", Duplex::kHalf}})
        .doc("Whether the two directions have a wire each or share one.");
    schema.field("turnaround", &LinkParams::turnaround)
        .doc("Of a half-duplex link: the wire's idle time when the direction changes.");
    MessageCost::describe_in(schema, &LinkParams::header, &LinkParams::data_header);
    schema.field("credits", &LinkParams::credits)
        .default_text("unlimited")
        .doc(
            "Messages of each class that the receiver can buffer, one number (1 to 65536) or a table by class "
            "such as {M2S Req: 32, M2S RwD: 16}; a sender without a credit waits. A credit comes back over the "
            "link when the receiver has drained the buffer.");
    schema.field("reverse", &LinkParams::reverse).doc("What differs from the second device to the first.");
    schema.rule("a full-duplex link has no turnaround: set duplex: half", [](const LinkParams& link) {
      return link.duplex == Duplex::kHalf || link.turnaround == Time{};
    });
    schema.rule(
        "a half-duplex link has one bandwidth: leave out reverse.bandwidth",
        [](const LinkParams& link) { return link.duplex == Duplex::kFull || !link.reverse.bandwidth; });
  }
};

}  // namespace cxloom
