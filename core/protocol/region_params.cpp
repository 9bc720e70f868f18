#include "protocol/region_params.hpp"

#include <bit>
#include <string>

#include "base/schema.hpp"

namespace cxloom {

void ReplicasParams::describe(Schema<ReplicasParams>& schema) {
  schema.doc("Further copies of a region in other memories, which every write goes to as well.");
  schema.field("on", &ReplicasParams::on)
      .required()
      .where([](const auto& names) { return !names.empty(); }, "one memory or more")
      .doc(
          "The memories that have a copy each, besides the one of `to`. Of a range that is interleaved, "
          "those of one copy after the other: each has what the one at its place in `to` has.");
  schema.field("switch", &ReplicasParams::by_switch)
      .default_text("none")
      .doc(
          "Requests go to this switch, which sends a write on to all copies. Without one each host and "
          "accelerator sends one message for each copy.");
  schema
      .choice("read", &ReplicasParams::read,
              {{"primary", ReplicaReads::kPrimary}, {"spread", ReplicaReads::kSpread}})
      .doc(
          "Which copy is read. primary: the first that is whole, in the order of `to` and `on`. spread: line "
          "by line another one of those that are whole.");
  schema.field("entries", &ReplicasParams::entries)
      .min(1)
      .max(65'536)
      .doc(
          "Where a switch replicates: writes of the region that it has sent and that have not been answered "
          "by all copies. Further ones wait. Also of each host that sends the copies, with acknowledge.")
      .source("own choice");
  schema.field("acknowledge", &ReplicasParams::acknowledge)
      .min(1)
      .default_text("all")
      .doc(
          "A write is answered when so many copies have it, the one of `to` included: 1 is the first that "
          "answers, 2 of 3 a majority. The others get it later, and are lost with what fails before.");
  schema.field("resync_rate", &ReplicasParams::resync_rate)
      .default_text("as fast as 64 lines at a time go")
      .doc("Bytes per second at most that are copied to a memory which comes back.");
  schema.rule(
      "entries are of a switch that replicates, or of writes that are answered before all copies have them: "
      "leave them out, name a switch, or say acknowledge",
      [](const ReplicasParams& replicas) {
        return !replicas.by_hosts() || replicas.acknowledge || replicas.entries == ReplicasParams{}.entries;
      },
      "entries");
}

void RegionParams::describe(Schema<RegionParams>& schema) {
  schema.doc(
      "A range of addresses and the devices that serve it. Regions follow each other in the order written.");
  schema.field("to", &RegionParams::to)
      .required()
      .where([](const auto& names) { return !names.empty(); }, "one target or more")
      .doc("The devices that share the range, in the order of the interleave.");
  schema.field("interleave", &RegionParams::interleave)
      .where(
          [](const Bytes& value) {
            return value.count() >= kLineBytes && std::has_single_bit(value.count());
          },
          "a power of two of at least 64B")
      .doc("Granularity: consecutive bytes on one target before the next one's turn.")
      .source("CXL 3.x, 8.2.4.20.7: 256 B to 16 KiB");
  schema
      .choice("policy", &RegionParams::policy,
              {{"cxl", InterleavePolicy::kCxl},
               {"weighted", InterleavePolicy::kWeighted},
               {"capacity", InterleavePolicy::kCapacity}})
      .doc(
          "cxl: an HDM decoder's ways and granularities. weighted: any number of targets, by weight. "
          "capacity: weights in proportion to the capacities.");
  schema.rule("the base must be a multiple of the interleave", [](const RegionParams& region) {
    return !region.base || region.base->value() % region.interleave.count() == 0;
  });
  schema.field("weights", &RegionParams::weights)
      .doc("Of policy weighted: chunks of each target in one round; all 1 if left out.");
  schema.field("size", &RegionParams::size)
      .min(Bytes{kLineBytes})
      .default_text("all that the targets have left")
      .doc("Length of the range.");
  schema.field("base", &RegionParams::base)
      .default_text("the end of the region before")
      .doc("First address of the range.");
  schema
      .choice("coherence", &RegionParams::coherence,
              {{"none", Coherence::kNone},
               {"hdm-db", Coherence::kHdmDb},
               {"hdm-h", Coherence::kHdmH},
               {"hdm-d", Coherence::kHdmD}})
      .doc(
          "Who keeps caches coherent that hold its lines. none: nobody; each line is taken to be used by one "
          "requester. hdm-db: the device, by a snoop filter and back-invalidate snoops. hdm-h: a host, by "
          "snoops of CXL.cache; its own memory, or a device's. hdm-d: the device, by bias: it asks who may "
          "hold lines by CXL.cache.")
      .source("CXL 3.x, HDM-DB, HDM-H and HDM-D");
  schema.field("home", &RegionParams::home)
      .default_text("each target, by a dcoh, bias or home_agent of its own")
      .doc(
          "The device that manages the coherence of the range: one with a dcoh (hdm-db) or bias (hdm-d), or "
          "a host with a home_agent (hdm-h).");
  schema
      .choice("persistence", &RegionParams::persistence,
              {{"volatile", Persistence::kVolatile},
               {"media", Persistence::kMedia},
               {"controller", Persistence::kController}})
      .doc(
          "When a write to the range is durable. volatile: never. media: when the media have it; memory that "
          "answers a write before is refused. controller: when the memory answers it; its buffers are "
          "flushed "
          "when power fails. What a persist buffer of a switch on the way has answered is durable as well.");
  schema.rule(
      "memory that a host or a device by bias keeps coherent is volatile: leave out persistence, or write "
      "coherence: hdm-db or none",
      [](const RegionParams& region) {
        return region.persistence == Persistence::kVolatile || region.coherence == Coherence::kNone ||
               region.coherence == Coherence::kHdmDb;
      },
      "persistence");
  schema
      .choice("type", &RegionParams::type,
              {{"wb", MemoryType::kWriteBack},
               {"wt", MemoryType::kWriteThrough},
               {"uc", MemoryType::kUncacheable},
               {"wc", MemoryType::kWriteCombining}})
      .doc(
          "How hosts and accelerators access the range. wb: lines are cached, and stores stay in the cache. "
          "wt: lines are cached, and stores go to memory as well. uc: nothing is cached, and one access is "
          "made at a time, in order. wc: nothing is cached, and stores are gathered by line in buffers.")
      .source("Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3, section 12.3");
  schema.rule(
      "memory of another type than wb is volatile, and nobody keeps it coherent: leave out type, or "
      "coherence and persistence",
      [](const RegionParams& region) {
        return region.type == MemoryType::kWriteBack ||
               (region.persistence == Persistence::kVolatile && region.coherence == Coherence::kNone);
      },
      "type");
  schema.field("ld", &RegionParams::ld)
      .max(15)
      .default_text("none")
      .doc(
          "Of memory with logical_devices: which of them holds the range, by its place there, from 0 (the "
          "LD-ID).");
  schema.rule(
      "a logical device belongs to one host: nobody keeps it coherent; leave out coherence",
      [](const RegionParams& region) { return !region.ld || region.coherence == Coherence::kNone; }, "ld");
  schema.field("replicas", &RegionParams::replicas)
      .default_text("none")
      .doc("Further copies of the range in other memories, so that one of them may fail.");
  schema.rule(
      "each copy of a range lies in as many memories as the range itself: on names so many for each copy, in "
      "the order of to",
      [](const RegionParams& region) {
        return !region.replicas || region.replicas->on.size() % region.to.size() == 0;
      },
      "replicas.on");
  schema.rule(
      "acknowledge is at most the number of copies",
      [](const RegionParams& region) {
        return !region.replicas || !region.replicas->acknowledge ||
               *region.replicas->acknowledge <= 1 + region.replicas->on.size() / region.to.size();
      },
      "replicas.acknowledge");
  schema.rule(
      "a range with replicas is volatile, nobody keeps it coherent, and no logical device holds it: leave "
      "out replicas, or persistence, coherence and ld",
      [](const RegionParams& region) {
        return !region.replicas || (region.persistence == Persistence::kVolatile &&
                                    region.coherence == Coherence::kNone && !region.ld);
      },
      "replicas");
  schema.rule(
      "home names who keeps the range coherent: it needs coherence: hdm-db, hdm-h or hdm-d",
      [](const RegionParams& region) { return !region.home || region.coherence != Coherence::kNone; },
      "home");
}

}  // namespace cxloom
