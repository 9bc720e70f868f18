#include "interconnect/wire/link_params.hpp"

#include <cmath>

#include "base/schema.hpp"
#include "interconnect/wire/flit_errors.hpp"
#include "protocol/class_vc.hpp"
#include "protocol/flit/io_packer.hpp"

namespace cxloom {

FlitMode LinkParams::flit_mode() const {
  if (flit == FlitChoice::kByGeneration) return phy->default_flit();
  return static_cast<FlitMode>(static_cast<int>(flit) - 1);  // in the same order
}

MessageCost LinkParams::cost() const {
  if (!phy || in_flits()) return {header, data_header, data_header};
  const auto framed = [](Opcode opcode) { return Bytes{io_packet_bytes(FlitMode::k68B, opcode, 0)}; };
  return {framed(Opcode::kMRd), framed(Opcode::kMWr), framed(Opcode::kCplD)};
}

Rate LinkParams::rate_of(const Phy& layer) const {
  const Rate rate = layer.rate(sync_header_bypass);
  if (in_flits()) return rate;
  constexpr std::uint64_t kParts = 100'000;
  const auto left =
      static_cast<std::uint64_t>(std::llround((1.0 - link_layer) * static_cast<double>(kParts)));
  return Rate::per_time(rate.denominator() * left, rate.numerator() * kParts);
}

namespace {

constexpr double kMostOfLinkLayer = 0.99;  // with no rate at all a link would never deliver

// Parameters that only a physical link or only an abstract one has.
void describe_physical(Schema<LinkParams>& schema) {
  const std::string lanes = "a physical link (phy) has its bandwidth from its lanes: leave out bandwidth";
  schema.rule(
      lanes, [](const LinkParams& link) { return !link.phy || !link.reverse.bandwidth; },
      "reverse.bandwidth");
  schema.rule(
      "a physical link (phy) is full duplex",
      [](const LinkParams& link) { return !link.phy || link.duplex == Duplex::kFull; }, "duplex");
  const auto abstract = [](const LinkParams& link) { return !link.phy; };
  schema.effective("bandwidth", abstract,
                   "on a physical link (phy), which has its own from its lanes: leave out bandwidth");
  for (const char* const cost : {"header", "data_header"}) {
    schema.effective(cost, abstract,
                     "on a physical link (phy), which has the message costs of its flits or packets: leave "
                     "out header and data_header");
  }
  // A value that switches one of these off holds for an abstract link, too.
  const std::string unless = "unless the link is physical, with flits: set phy";
  const auto physical = [&]<class Off>(const std::string& key, Off /*off*/) {
    schema.effective(key, [](const LinkParams& link) { return link.in_flits() || Off{}(link); }, unless);
  };
  schema.effective(
      "flit", [](const LinkParams& link) { return link.phy.has_value(); },
      "unless the link is physical: set phy");
  schema.effective(
      "link_layer", [](const LinkParams& link) { return link.phy && !link.in_flits(); },
      "unless a physical link has no flits: set phy, and flit: none");
  physical("sync_header_bypass", [](const LinkParams& link) { return !link.sync_header_bypass; });
  physical("errors",
           [](const LinkParams& link) { return link.errors.bit_error_rate == 0.0 && !link.errors.every; });
  physical("ide",
           [](const LinkParams& link) { return link.ide.mode == IdeMode::kOff && !link.ide.aggregation; });
  physical("outage", [](const LinkParams& link) { return !link.outage.at; });
  physical("degraded", [](const LinkParams& link) { return !link.degraded.at; });
  schema.effective(
      "retimers", [](const LinkParams& link) { return link.phy || link.retimers == 0; },
      "unless the link is physical: set phy");
}

void describe_retimers(Schema<LinkParams>& schema) {
  schema.field("retimers", &LinkParams::retimers)
      .max(kMostRetimers)
      .doc(
          "Of a physical link: retimers on its way, at most two up to pcie6, four with pcie7. Each adds "
          "retimer_delay in each direction.")
      .source("two: PCIe 4.0 to 6.0; four: CXL Consortium, CXL 4.0 (November 2025)");
  schema.field("retimer_delay", &LinkParams::retimer_delay)
      .doc("Time from one side of a retimer to the other.")
      .source(
          "below 10 ns: Astera Labs on its retimers in low-latency mode; Microchip has below 12 ns, 80 % "
          "below PCIe 6's limit");
  schema.effective(
      "retimer_delay", [](const LinkParams& link) { return link.retimers > 0; },
      "without retimers: set retimers");
  schema.rule(
      "up to pcie6 a link has at most two retimers: four are allowed with pcie7",
      [](const LinkParams& link) {
        constexpr unsigned kFirstWithFour = 7;
        return link.retimers <= kMostRetimersBeforePcie7 || !link.phy ||
               link.phy->generation >= kFirstWithFour;
      },
      "retimers");
}

void describe_bundle(Schema<LinkParams>& schema) {
  schema.field("bundle", &LinkParams::bundle)
      .doc(
          "Whether the `count` links are bundled ports: one logical port, over whose links messages go by "
          "blocks of 256 B of their addresses, there and back, whatever `routing` is.")
      .source("CXL Consortium, CXL 4.0 (November 2025); the rule by address is an own choice");
  schema.rule(
      "a bundle has several ports: set count to 2 or more",
      [](const LinkParams& link) { return !link.bundle || link.count > 1; }, "bundle");
  schema.rule(
      "bundled ports have flits of 256 B, and this link has no physical layer: set phy, such as pcie7-x16",
      [](const LinkParams& link) { return !link.bundle || link.phy; }, "bundle");
  // Without `flit` nobody wrote what is wrong: then the bundle is where to look.
  schema.rule(
      "bundled ports have flits of 256 B, and up to pcie5 a link has flits of 68 B by default: set "
      "flit: 256B, or a phy from pcie6 on",
      [](const LinkParams& link) {
        return !link.bundle || !link.phy || link.flit != FlitChoice::kByGeneration ||
               link.flit_mode() != FlitMode::k68B;
      },
      "bundle");
  schema.rule(
      "bundled ports have flits of 256 B, not of 68 B, and not none: set flit: 256B",
      [](const LinkParams& link) {
        return !link.bundle || !link.phy || (link.flit != FlitChoice::kNone && link.flit != FlitChoice::k68B);
      },
      "flit");
}

}  // namespace

void ReverseParams::describe(Schema<ReverseParams>& schema) {
  schema.doc("What differs in the direction from the second device to the first.");
  schema.field("bandwidth", &ReverseParams::bandwidth)
      .default_text("that of the link")
      .doc("Bandwidth in that direction.");
  schema.field("delay", &ReverseParams::delay)
      .default_text("that of the link")
      .doc("Time of flight in that direction.");
}

void LinkParams::describe(Schema<LinkParams>& schema) {
  schema.doc(
      "A connection between two devices. It runs at the slowest of its own bandwidth and those of its "
      "ports.");
  schema.field("bandwidth", &LinkParams::bandwidth)
      .doc("Bytes per second in each direction; a half-duplex link shares it between the two.");
  schema.field("count", &LinkParams::count)
      .min(1)
      .max(kMostParallelLinks)
      .doc(
          "Parallel links that this entry stands for, each with the bandwidth of one; `routing` shares them "
          "out. Where it is written, other entries may join the same two devices too.");
  describe_bundle(schema);
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
  schema.field("credit_time", &LinkParams::credit_time)
      .doc("Time from a credit's arrival at the sender until a message that takes it may start.")
      .source("CXL 3.x, chapter 13, has a target for it: 50 ns under load");
  schema.effective(
      "credit_time", [](const LinkParams& link) { return link.credits.any() || link.credit_time == Time{}; },
      "without credits: set credits");
  schema.field("virtual_channels", &LinkParams::virtual_channels)
      .min(1)
      .max(kMostVirtualChannels)
      .doc(
          "Virtual channels of each class, with `credits` of their own each. Between switches with queues at "
          "their "
          "inputs messages change to the next one at datelines, so that their buffers close no circle.");
  schema.rule(
      "virtual channels share nothing but the wire: they need credits",
      [](const LinkParams& link) { return link.virtual_channels == 1 || link.credits.any(); },
      "virtual_channels");
  schema.rule(
      "flits carry credits of one virtual channel per class: leave out virtual_channels",
      [](const LinkParams& link) { return link.virtual_channels == 1 || !link.in_flits(); },
      "virtual_channels");
  schema.field("reverse", &LinkParams::reverse).doc("What differs from the second device to the first.");
  schema.rule(
      "a full-duplex link has no turnaround: set duplex: half",
      [](const LinkParams& link) { return link.duplex == Duplex::kHalf || link.turnaround == Time{}; },
      "turnaround");
  schema.rule(
      "a half-duplex link has one bandwidth: leave out reverse.bandwidth",
      [](const LinkParams& link) { return link.duplex == Duplex::kFull || !link.reverse.bandwidth; },
      "reverse.bandwidth");
  schema.field("phy", &LinkParams::phy)
      .default_text("")
      .doc(
          "The physical layer, instead of a bandwidth: PCIe generation (3 to 7) and lanes. Messages then "
          "share flits, but for `flit: none`.")
      .source("8 to 128 GT/s per lane: CXL 3.x, chapter 4; 128b/130b encoding up to 32 GT/s");
  schema.field("sync_header_bypass", &LinkParams::sync_header_bypass)
      .doc(
          "Of a physical link up to 32 GT/s: its ends leave out the sync headers of 128b/130b encoding, 2 "
          "bits of 130.")
      .source(
          "CXL 3.x, chapter 6: applies at 8, 16 and 32 GT/s, whatever the flits; 64 GT/s has no sync "
          "headers");
  describe_retimers(schema);
  schema
      .choice("flit", &LinkParams::flit,
              {{"by-generation", FlitChoice::kByGeneration},
               {"68B", FlitChoice::k68B},
               {"256B", FlitChoice::k256B},
               {"256B-lo", FlitChoice::k256BLo},
               {"256B-pbr", FlitChoice::k256BPbr},
               {"none", FlitChoice::kNone}})
      .doc(
          "The flit format of a physical link. by-generation: 68B up to 32 GT/s, 256B above. none: a link of "
          "PCIe up to 32 GT/s, whose packets are framed one by one: 24 B of a read or write, 20 B of a "
          "completion. Other messages cost as a read, or as a write, of as many bytes.")
      .source(
          "PCI Express Base 5.0, 2.2 and 4.2: 16 B headers of memory requests with 64-bit addresses, 12 B of "
          "completions; 4 B token with the sequence number, 4 B link CRC");
  schema.field("link_layer", &LinkParams::link_layer)
      .fraction()
      .where([](double share) { return share <= kMostOfLinkLayer; }, "at most 99%")
      .doc(
          "With flit: none, the share of each direction that packets of the link layer (ACK, flow control) "
          "and skip ordered sets take. The default is that of payloads of 256 B on x16; of 128 B it is 11.4 "
          "%, of 512 B 9.1 %.")
      .source(
          "pcie-model 40703cf (Neugebauer et al., SIGCOMM 2018): an ACK and an update of flow control of 8 B "
          "each for every 168 B, and 4 B of skip ordered sets in 1538. The specification counts these 168 in "
          "symbol times, in which x16 carries 16 B each: by that it is less than 1 %");
  schema.field("errors", &LinkParams::errors).doc("Of a physical link: errors on the wire.");
  schema.field("ide", &LinkParams::ide).doc("Of a physical link: integrity checks.");
  schema.field("outage", &LinkParams::outage).doc("Of a physical link: a time in which it is down.");
  schema.field("degraded", &LinkParams::degraded).doc("Of a physical link: a time from which it is slower.");

  describe_physical(schema);
  schema.rule(
      "a degraded link has fewer lanes or a lower speed, not more",
      [](const LinkParams& link) {
        return !link.degraded.phy || !link.phy ||
               link.rate_of(*link.degraded.phy).slower_than(link.rate_of(*link.phy));
      },
      "degraded.phy");
  schema.rule(
      "sync headers end at 32 GT/s (pcie5): leave out sync_header_bypass",
      [](const LinkParams& link) {
        return !link.sync_header_bypass || !link.phy || link.phy->has_sync_headers();
      },
      "sync_header_bypass");
  schema.rule(
      "from 64 GT/s (pcie6) on there are flits: leave out flit: none",
      [](const LinkParams& link) { return !link.phy || link.in_flits() || link.phy->has_sync_headers(); },
      "flit");
  schema.rule("68B flits end at 32 GT/s (pcie5): set flit: 256B", [](const LinkParams& link) {
    return !link.in_flits() || (link.phy->carries(link.flit_mode()) &&
                                (!link.degraded.phy || link.degraded.phy->carries(link.flit_mode())));
  });
  schema.rule(
      "68B flits carry no M2S BIRsp and no S2M BISnp: leave out their credits",
      [](const LinkParams& link) {
        const bool back_invalidation =
            link.credits.of(Channel::kM2SBIRsp) || link.credits.of(Channel::kS2MBISnp);
        // One number for all classes counts for the classes that there are.
        return !link.in_flits() || link.flit_mode() != FlitMode::k68B || !back_invalidation ||
               link.credits.all_alike();
      },
      "credits");
  schema.rule(
      "with so many errors hardly a flit passes: lower errors.bit_error_rate",
      [](const LinkParams& link) {
        constexpr double kHopeless = 0.9;  // of the flits
        return !link.in_flits() ||
               flit_error_probability(link.flit_mode(), link.errors.bit_error_rate) <= kHopeless;
      },
      "errors.bit_error_rate");
}

}  // namespace cxloom
