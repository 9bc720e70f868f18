#include "memory/flash/params.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/schema.hpp"
#include "base/units.hpp"

namespace cxloom {

namespace {

/// A preset, as a person would write it.
const Value::Map& values_of(FlashPreset preset) {
  // [H] HP, "Solid State Drive Technology: Differences between SLC, MLC and TLC NAND", technical white paper,
  // table 1. [A] Agrawal et al., "Design Tradeoffs for SSD Performance", USENIX ATC 2008, table 1: Samsung
  // K9XXG08UXM. [C] Cheong et al., "A Flash Memory Controller for 15 us Ultra-Low-Latency SSD Using
  // High-Speed 3D NAND Flash with 3 us Read
  //     Time", ISSCC 2018: Samsung Z-NAND.
  // [O] ONFI 4.0: NV-DDR3 of 800 MT/s, a byte wide.
  //
  // The command time is that of NV-DDR2 in ONFI as MQSim has it (Tavakkol et al., FAST 2018): tCS + 6 tWC +
  // tWB + tRR = 20 + 6 x 25 + 100 + 20 ns.

  // Three bits per cell. [H]: 75 us, 900 us (to 1350), 4.5 ms, 1000 cycles. 16 KiB pages and two planes of
  // 1152-page blocks are a choice, those of dies of 512 Gb.
  static const Value::Map kTlc;  // the members' own values

  // One bit per cell, 2008. [A]: 25 us, 200 us, 1.5 ms; 100 us for 4 KiB on the bus; 4 planes of 2048 blocks
  // of 64 pages of 4 KiB; two dies in a package of 4 GB; 100,000 cycles. Its bus is asynchronous: 7 command
  // and address cycles of 25 ns, and tWB 100 ns.
  static const Value::Map kSlc{{"read_time", "25us"},
                               {"program_time", "200us"},
                               {"erase_time", "1500us"},
                               {"bus_bandwidth", "0.04096GB/s"},
                               {"command_time", "275ns"},
                               {"dies", 2},
                               {"planes", 4},
                               {"pages", 64},
                               {"page", "4KiB"},
                               {"endurance", 100'000},
                               {"plane_work", "multi-plane"}};

  // One bit per cell, for latency. [C]: 3 us, 100 us, 160 MB/s of writes per die, which are four pages of 4
  // KiB in one program time. Its erase time is not published: 1.5 ms is that of SLC in [H] and [A]. [O] for
  // the bus. 100,000 cycles as SLC in [H].
  static const Value::Map kZNand{
      {"read_time", "3us"}, {"program_time", "100us"}, {"erase_time", "1500us"}, {"planes", 4},
      {"pages", 256},       {"page", "4KiB"},          {"endurance", 100'000},
  };
  switch (preset) {
    case FlashPreset::kSlc: return kSlc;
    case FlashPreset::kZNand: return kZNand;
    case FlashPreset::kTlc: break;
  }
  return kTlc;
}

constexpr std::uint64_t kMostPagesOfAPlane = std::uint64_t{1} << 31U;

void describe_geometry(Schema<FlashParams>& schema) {
  constexpr std::uint32_t kMost = 4096;
  schema.field("channels", &FlashParams::channels).min(1).max(kMost).doc("Buses that work at the same time.");
  schema.field("packages", &FlashParams::packages).min(1).max(kMost).doc("Packages on a channel.");
  schema.field("dies", &FlashParams::dies)
      .min(1)
      .max(kMost)
      .doc("Dies in a package; each reads, programs and erases by itself.");
  schema.field("planes", &FlashParams::planes).min(1).max(kMost).doc("Planes of a die.");
  schema.field("blocks", &FlashParams::blocks)
      .min(2)
      .max(1U << 24U)
      .default_text("as many as the memory's capacity and over_provisioning take")
      .doc("Blocks of a plane; with `over_provisioning` more than are kept free.");
  schema.field("pages", &FlashParams::pages).min(1).max(1U << 16U).doc("Pages of a block.");
  schema.field("page", &FlashParams::page)
      .min(Bytes{512})
      .max(Bytes{65'536})
      .where(kIsPowerOfTwo, "a power of two")
      .doc("Bytes that are read and programmed at once: one to 64 of a `sector`.");
  schema.field("sector", &FlashParams::sector)
      .min(Bytes{64})
      .max(Bytes{65'536})
      .where(kIsPowerOfTwo, "a power of two")
      .doc(
          "Bytes that pass the bus at least: a codeword; a page has one to 64. A write that leaves out "
          "sectors of its page reads them before.")
      .source("a choice: 4 KiB, as SSDs address");
  schema.rule("a page must have one to 64 sectors", [](const FlashParams& params) {
    return params.sector <= params.page && params.page.count() / params.sector.count() <= 64;
  });
}

void describe_timing(Schema<FlashParams>& schema) {
  schema.field("read_time", &FlashParams::read_time)
      .doc("From the array to the page register (tR).")
      .source("HP, Solid State Drive Technology, table 1: TLC, 75 us");
  schema.field("program_time", &FlashParams::program_time)
      .doc("From the register to the array (tPROG).")
      .source("HP, the same table: TLC, 900 to 1350 us");
  schema.field("erase_time", &FlashParams::erase_time)
      .doc("To erase a block (tBERS).")
      .source("HP, the same table: TLC, 4.5 ms");
  schema.field("command_time", &FlashParams::command_time)
      .doc("The bus has the command and the address of each page or block so long.")
      .source("ONFI NV-DDR2 as in MQSim (FAST 2018): tCS + 6 tWC + tWB + tRR = 290 ns");
  schema.field("bus_bandwidth", &FlashParams::bus_bandwidth)
      .doc("Bytes per second of a channel.")
      .source("ONFI 4.0: NV-DDR3 of 800 MT/s, a byte wide");
  schema
      .choice("plane_work", &FlashParams::plane_work,
              {{"one", FlashPlaneWork::kOne},
               {"multi-plane", FlashPlaneWork::kTogether},
               {"independent", FlashPlaneWork::kIndependent}})
      .doc(
          "What the planes of a die do at the same time. one: one of them works. multi-plane: those that "
          "want the same, a read, a program or an erase, when the die begins, do it together. independent: "
          "each begins when it wants.")
      .source("ONFI multi-plane operations; independent plane reads are those of newer dies");
}

void describe_translation(Schema<FlashParams>& schema) {
  schema.field("over_provisioning", &FlashParams::over_provisioning)
      .where([](const double& value) { return value > 0.0 && value <= 100.0; },
             "more than 0, up to 100: without spare pages no block could ever be freed")
      .doc("Pages that are spare, as a share of those of the memory.")
      .source("7 %: a binary gigabyte of flash for a decimal one of capacity");
  schema.field("collection", &FlashParams::collection)
      .category("collectors")
      .doc("Which block is collected: its current pages are moved, and it is erased.");
  schema.field("free_blocks", &FlashParams::free_blocks)
      .min(2)
      .max(1U << 20U)
      .doc("A plane with fewer free blocks than this collects. The last one is kept for what is moved.")
      .source("a choice: the fewest that work");
  schema.field("copyback", &FlashParams::copyback)
      .doc(
          "Collection moves pages within the die, without the bus and so without a check of their "
          "codewords.");
  schema
      .choice("wear_levelling", &FlashParams::wear_levelling,
              {{"none", FlashWearLevelling::kNone},
               {"dynamic", FlashWearLevelling::kDynamic},
               {"static", FlashWearLevelling::kStatic}})
      .doc(
          "none: the block erased last is written next. dynamic: the one erased least often. static: the "
          "same, "
          "and every other block that is collected may be the least worn, if that is `wear_gap` behind.");
  schema.field("wear_gap", &FlashParams::wear_gap)
      .doc(
          "Erases that a block may be behind the most worn one of its plane. Only with `wear_levelling`: "
          "static.")
      .source("MQSim's default");
  schema.effective(
      "wear_gap",
      [](const FlashParams& params) { return params.wear_levelling == FlashWearLevelling::kStatic; },
      "unless wear is levelled so: set wear_levelling: static");
  schema.field("endurance", &FlashParams::endurance)
      .min(1)
      .doc("Erases after which a block is worn out; it goes on working and is counted.")
      .source("HP, the same table: TLC, 1000");
}

}  // namespace

void FlashParams::describe(Schema<FlashParams>& schema) {
  schema.doc(
      "NAND flash: channels, packages, dies and planes that work at the same time, a page-mapping "
      "translation layer with garbage collection and wear levelling, and a write buffer.");
  schema
      .choice("preset", &FlashParams::preset,
              {{"tlc", FlashPreset::kTlc}, {"slc", FlashPreset::kSlc}, {"z-nand", FlashPreset::kZNand}})
      .doc(
          "A published part: the values of what is not written here. tlc: three bits per cell. slc: one bit "
          "per cell, of 2008. z-nand: one bit per cell, for low latency.")
      .source("HP, Solid State Drive Technology; Agrawal et al., ATC 2008; Cheong et al., ISSCC 2018");
  describe_geometry(schema);
  describe_timing(schema);
  describe_translation(schema);
  schema.field("write_buffer", &FlashParams::write_buffer)
      .max(1U << 20U)
      .doc("Pages in the write buffer. A write is done once it is there; 0: once it is programmed.")
      .source("a choice");
  schema.field("hold", &FlashParams::hold)
      .doc(
          "Pages that stay in the write buffer, to be merged with later writes to them; the oldest beyond, "
          "and pages that are complete, are programmed.");
  schema.rule("`hold` must leave a page of the write buffer free", [](const FlashParams& params) {
    return params.hold == 0 || params.hold < params.write_buffer;
  });
  schema.field("buffer_time", &FlashParams::buffer_time)
      .doc("Time to write to the buffer, to read from it, and to find that a page was never written.")
      .source("a choice: DRAM of a controller");
  schema.field("filled", &FlashParams::filled)
      .fraction()
      .doc("Share of the pages that were written before the run, one after the other.");
  schema.field("overwritten", &FlashParams::overwritten)
      .min(0.0)
      .max(1000.0)
      .doc(
          "How often on average each page was then written again before the run, at random. Eight times are "
          "played; what more there is wears the blocks, and changes nothing else.")
      .source("after n times a share of e^-n of the pages has not moved: of 8 that is 0.03 %");
}

void FlashParams::estimate(const FlashParams& params, MemoryEstimate& memory) {
  if (!params.blocks) return;
  const std::uint64_t planes = std::uint64_t{params.channels} * params.packages * params.dies * params.planes;
  memory.add("blocks", std::to_string(*params.blocks), *params.blocks,
             planes * (sizeof(std::uint64_t) * params.pages + 40));
}

FlashGeometry FlashParams::geometry(std::optional<Bytes> capacity) const {
  constexpr std::uint64_t kCapacity = std::uint64_t{16} << 30U;
  FlashGeometry made{channels, packages, dies, planes, 1, pages, 1};
  const std::uint64_t stripe = page.count() * made.all_planes();
  const std::uint64_t wanted = (capacity ? capacity->count() : kCapacity) / stripe +
                               ((capacity ? capacity->count() : kCapacity) % stripe != 0 ? 1 : 0);
  const double room = 1.0 + over_provisioning;
  std::uint64_t of_plane = 0;  // blocks
  std::uint64_t logical = wanted;
  if (blocks) {
    of_plane = *blocks;
    logical = static_cast<std::uint64_t>(std::floor(static_cast<double>(of_plane * pages) / room));
  } else {
    const auto all = static_cast<std::uint64_t>(std::ceil(static_cast<double>(wanted) * room));
    of_plane = std::max((all + pages - 1) / pages, wanted / pages + free_blocks + 1);
  }
  if (of_plane * pages > kMostPagesOfAPlane) {
    throw InputError(
        {"a plane of the flash would have more than 2^31 pages", {}, "more planes, or larger pages", {}},
        blocks ? "blocks" : "planes");
  }
  if (logical >= (of_plane - std::min<std::uint64_t>(of_plane, free_blocks)) * pages) {
    const double least = static_cast<double>(of_plane) /
                             static_cast<double>(of_plane > free_blocks ? of_plane - free_blocks : 1) -
                         1.0;
    throw InputError(
        {"the flash could never free a block: of " + counted(of_plane, "block") + " in a plane, " +
             std::to_string(free_blocks) +
             " are to be free, and the rest would hold nothing but current data",
         "over_provisioning: " + value_text(over_provisioning),
         of_plane > free_blocks ? "more than " + percent_text(least) + ", or more `blocks`" : "more `blocks`",
         {}},
        "over_provisioning");
  }
  if (logical < wanted && capacity) {
    throw InputError({"the memory is larger than the flash, less what is over-provisioned",
                      to_text(*capacity),
                      "a `capacity` of at most " + to_text(Bytes{logical * stripe}) + ", or more `blocks`",
                      {}},
                     "blocks");
  }
  made.blocks = static_cast<std::uint32_t>(of_plane);
  made.logical = static_cast<std::uint32_t>(logical);
  return made;
}

void read_value(const Value& value, FlashParams& out) {
  const Value* const chosen = value.find("preset");
  FlashPreset preset = FlashPreset::kTlc;
  if (chosen && !chosen->is_null()) {
    const Value alone = Value::Map{{"preset", *chosen}};
    preset = read_params<FlashParams>(alone, alone).preset;
  }
  Value whole(values_of(preset));
  if (const Value::Map* map = value.as_map()) {
    for (const auto& [key, item] : *map) whole.set(key, item);
    out = read_params<FlashParams>(whole, value);
  } else {
    out = read_params<FlashParams>(value, value);
  }
}

}  // namespace cxloom
