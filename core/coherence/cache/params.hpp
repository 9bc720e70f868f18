// The parameters of the cache of a requester.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tags/cache_params.hpp"

namespace cxloom {

/// The notice that a cache gives of a clean line that leaves it.
enum class CleanEvictions : std::uint8_t {
  kSilent,    ///< nothing: the home goes on counting it among the owners
  kNotified,  ///< MemClnEvct
};

/// The state that a read asks for where nobody else has the line.
enum class ReadState : std::uint8_t {
  kAny,     ///< what the home likes: the only copy is exclusive (MemRdData)
  kShared,  ///< a shared copy (MemRd with MetaValue shared)
};

/// Where the atomic operations of a requester with a cache are made.
enum class AtomicsAt : std::uint8_t {
  kCache,        ///< on a line that it has alone
  kHome,         ///< by the memory, for the home
  kCacheOrHome,  ///< in the cache if that has the line alone, otherwise by the memory
};

/// A level behind the first.
struct CacheLevelParams : CacheParams {
  bool inclusive = false;

  static void describe(Schema<CacheLevelParams>& schema);
};

struct CacheAgentParams : CacheParams {
  std::vector<CacheLevelParams> levels;
  Time fill_time;
  Time clear_time;
  std::optional<std::uint32_t> mshrs;
  bool write_allocate = true;
  CleanEvictions clean_evictions = CleanEvictions::kSilent;
  ReadState read_state = ReadState::kAny;
  Time atomic_time{5'000};
  KindSpec prefetch{"none", Value(Value::Map{})};

  static void describe(Schema<CacheAgentParams>& schema);
  static void estimate(const CacheAgentParams& params, MemoryEstimate& memory);
};

}  // namespace cxloom
