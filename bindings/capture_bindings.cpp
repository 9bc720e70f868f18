#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "core_bindings.hpp"
#include "device/requester/core_params.hpp"
#include "program/program_capture.hpp"
#include "program/program_feed.hpp"
#include "system/spec/spec.hpp"
#include "trace_bindings.hpp"
#include "trace_columns.hpp"
#include "value_conversion.hpp"
#include "workload/trace/capture_filter.hpp"
#include "workload/trace/lackey_capture.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cxloom {

namespace {

// A level as the command line and the Python side name it: size, ways, victim policy if one is written.
using Level = std::tuple<std::string, std::uint32_t, std::string>;

std::vector<CacheParams> levels_of(const std::vector<Level>& levels) {
  std::vector<CacheParams> result;
  for (const auto& [size, ways, policy] : levels) {
    Value value;
    value.set("size", size);
    value.set("ways", static_cast<std::int64_t>(ways));
    if (!policy.empty()) value.set("policy", policy);
    result.push_back(read_params<CacheParams>(value));
  }
  return result;
}

// Settings of the core that runs a program.
struct ProgramCore {
  CorePipelineParams pace;
  std::uint32_t cores = 1;
  std::vector<CacheParams> caches;
  std::vector<LevelPrefetcher> prefetchers;  // of these
  std::optional<TlbParams> tlb;

  Bytes page() const { return tlb ? tlb->page : TlbParams::kSmallPage; }
  bool operator==(const ProgramCore&) const = default;
};

ProgramCore program_core(const Value& value) {
  const auto params = read_params<CoreParams>(value);
  ProgramCore core{.pace = {.width = params.width,
                            .window = params.window,
                            .load_cycles = {},
                            .branch_penalty = params.branch_penalty,
                            .branch_entries = params.branch_entries,
                            .store_buffer = params.store_buffer},
                   .cores = params.cores,
                   .caches = {},
                   .prefetchers = params.prefetchers(),
                   .tlb = params.tlb};
  for (const CoreCacheParams& cache : params.caches) {
    core.pace.load_cycles.push_back(cache.cycles);
    core.caches.push_back({.size = cache.size, .ways = cache.ways, .policy = cache.policy});
  }
  if (core.pace.load_cycles.empty()) core.pace.load_cycles.push_back(CoreCacheParams{}.cycles);
  return core;
}

// The end of every capture.
struct Filtered {
  Filtered(const std::vector<CacheParams>& levels, bool first_touch, std::uint64_t skip,
           std::optional<std::uint64_t> limit, std::uint32_t cores = 1, Bytes page = TlbParams::kSmallPage,
           std::vector<LevelPrefetcher> prefetchers = {})
      : filter(levels, registry().victims, first_touch, skip,
               limit.value_or(std::numeric_limits<std::uint64_t>::max()), cores, page,
               {std::move(prefetchers), &registry().prefetchers}) {}

  CaptureFilter filter;
};

struct LackeySession : Filtered {
  LackeySession(const std::vector<Level>& levels, bool first_touch, std::uint64_t skip,
                std::optional<std::uint64_t> limit)
      : Filtered(levels_of(levels), first_touch, skip, limit) {}

  LackeyCapture lackey{filter};
};

struct ProgramSession : Filtered {
  ProgramSession(std::string folder, const std::vector<CacheParams>& levels, bool first_touch,
                 std::uint64_t skip, std::optional<std::uint64_t> limit, const CaptureParts& parts,
                 std::uint32_t cores, Bytes page, std::vector<LevelPrefetcher> prefetchers,
                 std::uint32_t ring)
      : Filtered(levels, first_touch, skip, limit, cores, page, std::move(prefetchers)),
        capture(filter, parts),
        feed(std::move(folder), {.thread_words = ring}) {}

  ProgramCapture capture;
  ProgramFeed feed;
};

// By MemoryOrigin::Kind.
constexpr std::array kOriginNames{"other", "stack", "stacks", "heap", "map", "file", "tables"};

// What CacheHierarchy::Counts has of each level, in its order.
std::vector<std::array<std::uint64_t, 6>> counts_of(const CaptureFilter& filter) {
  std::vector<std::array<std::uint64_t, 6>> all;
  for (std::size_t level = 0; level < filter.levels(); ++level) {
    const CacheHierarchy::Counts counts = filter.counts(level);
    all.push_back(
        {counts.hits, counts.misses, counts.write_backs, counts.prefetches, counts.useful, counts.useless});
  }
  return all;
}

}  // namespace

void bind_capture(nb::module_& m) {
  nb::class_<Filtered>(m, "CaptureFilter", "Turns what a program accesses into the records of a trace.")
      .def_prop_ro(
          "complete", [](const Filtered& self) { return self.filter.complete(); },
          "Whether the limit is reached.")
      .def_prop_ro("records", [](const Filtered& self) { return self.filter.records(); })
      .def_prop_ro(
          "instructions", [](const Filtered& self) { return self.filter.instructions(); }, "While recording.")
      .def_prop_ro("instructions_in_all",
                   [](const Filtered& self) { return self.filter.instructions_in_all(); })
      .def_prop_ro(
          "pages", [](const Filtered& self) { return self.filter.pages(); },
          "Pages touched, with first_touch: of 4 KiB, or as large as those of the core's TLB.")
      .def_prop_ro(
          "counts", [](const Filtered& self) { return counts_of(self.filter); },
          "Hits, misses and write-backs of each level while recording.");

  nb::class_<LackeySession, Filtered>(m, "LackeyCapture", "Records what lackey reports.")
      .def(nb::init<const std::vector<Level>&, bool, std::uint64_t, std::optional<std::uint64_t>>(),
           "levels"_a, "first_touch"_a = true, "skip"_a = 0, "limit"_a = nb::none())
      .def(
          "set_recording", [](LackeySession& self, bool recording) { self.filter.set_recording(recording); },
          "recording"_a, "While false, the caches fill but nothing is recorded or skipped.")
      .def(
          "feed",
          [](LackeySession& self, const nb::bytes& block) {
            return parsed([&](std::vector<Access>& records) { self.lackey.feed(view_of(block), records); });
          },
          "block"_a, "The records that the block completes.")
      .def(
          "finish", [](LackeySession& self) { self.lackey.finish(); },
          "Raises InputError if the input ended within a line or had no access.");

  nb::class_<ProgramCore>(m, "ProgramCore",
                          "What of a core, as a spec has it, matters to the program that it runs.")
      .def(
          "__init__",
          [](ProgramCore* self, nb::handle core, const std::string& path) {
            try {
              new (self) ProgramCore(program_core(to_value(core)));
            } catch (const InputError& error) {
              throw error.with_path(path);
            }
          },
          "core"_a, "path"_a, "`path` is where it stands in its spec, for errors.")
      .def_prop_ro(
          "page", [](const ProgramCore& self) { return self.page().count(); }, "Bytes of a page.")
      .def_prop_ro(
          "caches",
          [](const ProgramCore& self) {
            std::vector<std::tuple<std::uint64_t, std::uint32_t, std::string>> all;
            for (const CacheParams& cache : self.caches)
              all.emplace_back(cache.size.count(), cache.ways, cache.policy.kind);
            return all;
          },
          "Bytes, ways and victim policy of each level, the nearest first.")
      .def(
          "__eq__", [](const ProgramCore& self, const ProgramCore& other) { return self == other; },
          nb::is_operator());

  nb::class_<ProgramSession, Filtered>(m, "ProgramCapture", "Records what the emulator's plug-in reports.")
      .def(
          "__init__",
          [](ProgramSession* self, std::string folder, const std::vector<Level>& levels, bool first_touch,
             std::uint64_t skip, std::optional<std::uint64_t> limit, bool regions,
             std::tuple<std::uint64_t, std::uint64_t> sample, const ProgramCore* core, bool flushes,
             std::uint32_t ring) {
            CaptureParts parts{.regions = regions,
                               .window = std::get<0>(sample),
                               .period = std::get<1>(sample),
                               .flushes = flushes};
            if (core != nullptr) {
              parts.core = core->pace;
              parts.tlb = core->tlb;
            }
            const bool own = core != nullptr && levels.empty();
            new (self) ProgramSession(std::move(folder), own ? core->caches : levels_of(levels), first_touch,
                                      skip, limit, parts, core != nullptr ? core->cores : 1,
                                      core != nullptr ? core->page() : TlbParams::kSmallPage,
                                      own ? core->prefetchers : std::vector<LevelPrefetcher>{}, ring);
          },
          "folder"_a, "levels"_a, "first_touch"_a = true, "skip"_a = 0, "limit"_a = nb::none(),
          "regions"_a = false, "sample"_a = nb::make_tuple(0, 0), "core"_a.none() = nb::none(),
          "flushes"_a = true, "ring"_a = ProgramFeed::Sizes{}.thread_words,
          "With a core, each thread has caches of its own, those of the core if `levels` names none, and "
          "records have "
          "the cycles that the core takes between them. Without flushes, those of lines are left out. "
          "`ring`: words that each thread may be ahead of what was read; a power of two.")
      .def(
          "set_recording",
          [](ProgramSession& self, bool recording) { self.capture.set_recording(recording); }, "recording"_a,
          "While false, the caches fill but nothing is recorded or skipped.")
      .def(
          "read",
          [](ProgramSession& self, std::uint64_t most, std::uint32_t wanted) {
            return parsed([&](std::vector<Access>& records) {
              self.feed.read(self.capture, most, wanted);
              records = self.capture.take();
            });
          },
          "most"_a, "wanted"_a = 0,
          "The records of the next words, of about so many if there are as many; those of the thread "
          "`wanted` alone as long as it has any.")
      .def(
          "finish",
          [](ProgramSession& self) {
            return parsed([&](std::vector<Access>& records) {
              self.feed.finish(self.capture);
              records = self.capture.take();
            });
          },
          "The last records, when no program runs any longer.")
      .def(
          "stop", [](ProgramSession& self) { self.feed.stop(); },
          "Programs no longer wait to be read; what they do is lost.")
      .def(
          "end_programs", [](ProgramSession& self) { self.feed.end_programs(); },
          "Those that still run are killed within a tenth of a second.")
      .def_prop_ro(
          "failure", [](const ProgramSession& self) { return self.feed.failure(); },
          "What the plug-in could not do, a sentence; empty if all went well.")
      .def_prop_ro(
          "words", [](const ProgramSession& self) { return self.feed.words(); }, "Read so far.")
      .def_prop_ro(
          "lacking", [](const ProgramSession& self) { return self.feed.lacking(); },
          "The first instruction that a program came to and the emulator does not have; empty if none.")
      .def_prop_ro(
          "names",
          [](const ProgramSession& self) {
            nb::list all;
            for (const ProgramFeed::Name& name : self.feed.names())
              all.append(nb::make_tuple(name.thread.number, name.thread.process,
                                        nb::bytes(name.program.data(), name.program.size())));
            return all;
          },
          "Of each thread its number, that of its process, and what its program is called.")
      .def_prop_ro("threads", [](const ProgramSession& self) { return self.feed.threads(); })
      .def_prop_ro("processes", [](const ProgramSession& self) { return self.feed.processes(); })
      .def_prop_ro(
          "escaped", [](const ProgramSession& self) { return self.feed.escaped(); },
          "Programs that were started outside of the emulator.")
      .def_prop_ro(
          "living", [](const ProgramSession& self) { return self.feed.living(); },
          "Numbers of the processes whose ends were not seen.")
      .def(
          "pages_from",
          [](ProgramSession& self, std::size_t first) {
            const auto& pages = self.capture.pages();
            return nb::make_tuple(
                column_of<std::uint64_t>(
                    pages, [](const FramedPage& page) { return page.address; }, first),
                column_of<std::uint32_t>(pages, [](const FramedPage& page) { return page.origin; }, first));
          },
          "first"_a,
          "Of the pages that have the frames from this one on: an address in each, with the number of the "
          "process in the upper 16 bits, and the number of its origin.")
      .def(
          "origins_from",
          [](ProgramSession& self, std::size_t first) {
            std::vector<std::tuple<std::string, std::uint32_t, std::string, std::vector<std::uint64_t>>> all;
            const auto& origins = self.capture.memory().origins();
            for (std::size_t i = first; i < origins.size(); ++i) {
              const MemoryOrigin& each = origins[i];
              all.emplace_back(kOriginNames[each.kind], each.process, each.file, each.callers);
            }
            return all;
          },
          "first"_a, "Kind, process, file and callers of the origins from this one on.")
      .def_prop_ro(
          "files",
          [](ProgramSession& self) {
            std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::string>>
                all;
            for (const auto& [process, mapping] : self.capture.memory().files())
              all.emplace_back(process, mapping.begin, mapping.end, mapping.offset, mapping.path);
            return all;
          },
          "What processes have mapped of files: process, begin, end, offset in the file, path.")
      .def_prop_ro(
          "loads", [](const ProgramSession& self) { return self.capture.loads(); }, "In all.")
      .def_prop_ro(
          "stores", [](const ProgramSession& self) { return self.capture.stores(); }, "In all.")
      .def_prop_ro(
          "flushes", [](const ProgramSession& self) { return self.capture.flushes(); },
          "Of lines, in all, recorded or not.")
      .def_prop_ro(
          "branches", [](const ProgramSession& self) { return self.capture.branches(); },
          "That were predicted, with a core.")
      .def_prop_ro(
          "mispredictions", [](const ProgramSession& self) { return self.capture.mispredictions(); },
          "Those of them that were predicted wrongly.")
      .def_prop_ro(
          "kernel",
          [](const ProgramSession& self) {
            std::map<std::size_t, std::pair<std::uint64_t, std::uint64_t>> all;
            const auto& counts = self.capture.kernel();
            for (std::size_t thread = 0; thread < counts.size(); ++thread)
              if (counts[thread].instructions != 0)
                all[thread] = {counts[thread].instructions, counts[thread].records};
            return all;
          },
          "Of a machine, while recording: by processor, as a thread, instructions of its kernel, and their "
          "records.")
      .def_prop_ro(
          "cycles",
          [](const ProgramSession& self) {
            std::map<std::size_t, std::uint64_t> all;
            const auto& cycles = self.capture.cycles();
            for (std::size_t process = 0; process < cycles.size(); ++process)
              if (cycles[process] != 0) all[process] = cycles[process];
            return all;
          },
          "With a core, while recording: cycles in which nothing waits for memory, by process as `waits_ns` "
          "of a summary has them: 1 for the kernel of a machine, from 2 on those of `guest_processes`, 0 for "
          "what is not told.")
      .def_prop_ro(
          "guest_processes",
          [](const ProgramSession& self) {
            nb::list all;
            const GuestUses* const guest = self.capture.guest_uses();
            if (guest == nullptr) return all;
            for (const GuestUses::Process& each : guest->processes())
              all.append(nb::make_tuple(each.pid, nb::bytes(each.name.data(), each.name.size()),
                                        each.instructions, each.records));
            return all;
          },
          "Of a machine, while recording: number and name of each process, and its instructions outside of "
          "the kernel with their records.")
      .def_prop_ro(
          "guest_mappings",
          [](const ProgramSession& self) {
            nb::list all;
            const GuestUses* const guest = self.capture.guest_uses();
            if (guest == nullptr) return all;
            for (const GuestUses::Mapping& each : guest->mappings()) {
              const std::vector<std::pair<std::uint64_t, std::uint64_t>> pages(each.pages.begin(),
                                                                               each.pages.end());
              all.append(nb::make_tuple(
                  each.process, nb::bytes(each.name.data(), each.name.size()),
                  column_of<std::uint64_t>(pages, [](const auto& page) { return page.first; }),
                  column_of<std::uint64_t>(pages, [](const auto& page) { return page.second; })));
            }
            return all;
          },
          "The mappings of these processes: the index of each one's process, its name, the numbers of its "
          "pages in memory, and the records of each.")
      .def_prop_ro(
          "register_accesses", [](const ProgramSession& self) { return self.capture.register_accesses(); },
          "Of a machine, while recording: accesses to registers of devices, which are in no record.")
      .def_prop_ro(
          "translation",
          [](const ProgramSession& self) {
            std::optional<std::map<std::string, std::uint64_t>> counts;
            if (const auto found = self.capture.translation()) {
              counts = {{"misses", found->misses},
                        {"walks", found->walks},
                        {"loads", found->loads},
                        {"cycles", found->cycles}};
            }
            return counts;
          },
          "While recording: misses of the TLB's first level, walks of the page table, the entries that they "
          "read, and the cycles without memory in which a thread waited for walks. None without a TLB.")
      .def_prop_ro(
          "regions", [](const ProgramSession& self) { return self.capture.regions(); },
          "Regions of interest that have begun.");
}

}  // namespace cxloom
