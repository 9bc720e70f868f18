// A link as a person describes it: abstract message cost, duplex, delays, credits.
#pragma once

#include <cstdint>
#include <optional>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "interconnect/wire/class_credits.hpp"
#include "interconnect/wire/flit_params.hpp"
#include "interconnect/wire/phy.hpp"

namespace cxloom {

enum class Duplex : std::uint8_t { kFull, kHalf };

/// The cost of a message on a wire, in bytes. Links without flits and buses share it.
struct MessageCost {
  Bytes header{16};             ///< of a message without data
  Bytes data_header{16};        ///< of a message with data, besides its payload
  Bytes completion_header{16};  ///< in place of that, of a completion with data (CplD)

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

/// Parameters that differ in the direction from the second device of a link to the first.
struct ReverseParams {
  std::optional<Bandwidth> bandwidth;
  std::optional<Time> delay;

  static void describe(Schema<ReverseParams>& schema);
};

/// More would be a slip of the finger.
inline constexpr std::uint32_t kMostParallelLinks = 1024;

/// Retimers of a link at most, by the standards: CXL 4.0, and PCIe up to 6.
inline constexpr std::uint32_t kMostRetimers = 4;
inline constexpr std::uint32_t kMostRetimersBeforePcie7 = 2;

struct LinkParams {
  Bandwidth bandwidth;
  std::uint32_t count = 1;
  bool bundle = false;
  Time delay;
  std::optional<Time> port_delay;
  Duplex duplex = Duplex::kFull;
  Time turnaround;
  Bytes header{16};
  Bytes data_header{16};
  ClassCredits credits;
  Time credit_time;
  std::uint32_t virtual_channels = 1;
  ReverseParams reverse;
  std::optional<Phy> phy;
  bool sync_header_bypass = false;
  std::uint32_t retimers = 0;
  Time retimer_delay{10'000};
  FlitChoice flit = FlitChoice::kByGeneration;
  double link_layer = 0.098;
  LinkErrorParams errors;
  IdeParams ide;
  OutageParams outage;
  DegradedParams degraded;

  /// What messages cost that are in no flits.
  MessageCost cost() const;
  /// Messages share flits: the link has a physical layer, and `flit` is not `none`.
  bool in_flits() const { return phy && flit != FlitChoice::kNone; }
  /// The flits of such a link.
  FlitMode flit_mode() const;
  /// Time of flight from end to end, through the retimers.
  Time flight() const { return delay + retimer_delay * retimers; }
  /// Time of flight from the second device to the first.
  Time flight_back() const { return reverse.delay.value_or(delay) + retimer_delay * retimers; }
  /// The rate of a physical layer of this link.
  Rate rate_of(const Phy& layer) const;

  static void describe(Schema<LinkParams>& schema);
};

}  // namespace cxloom
