// What tests of coherence in random systems share: draws, the parts that such systems are made of, and
// playing them with an oracle (coherence_oracle.hpp) that looks on.
//
// CXLOOM_COHERENCE_ACCESSES says how many accesses to make in all (default: a slice that takes seconds),
// CXLOOM_COHERENCE_SEED where to begin. A failure names its seed, makes the system play fewer accesses as
// long as it fails, and prints the log of the last.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "coherence/cache/params.hpp"
#include "core/support/coherence_faults.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {

class Draw {
 public:
  explicit Draw(std::uint64_t seed, const char* purpose = "systems") : random_(seed, "coherence", purpose) {}
  std::uint64_t below(std::uint64_t limit) { return random_.below(limit); }
  bool chance(std::uint64_t in) { return below(in) == 0; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  const char* one_of(std::initializer_list<const char*> choices) {
    return choices.begin()[below(choices.size())];
  }
  std::string ns(std::uint64_t most) { return std::to_string(below(most + 1)) + "ns"; }

 private:
  RandomStream random_;
};

/// A requester, and the accesses that it makes.
struct RandomRequester {
  std::string name;
  std::optional<CleanEvictions> cache;  ///< none: it has no cache
  std::vector<Access> program;
};

/// What a seed stands for: the system has no work yet.
struct RandomCase {
  SpecBuilder system;
  std::vector<RandomRequester> requesters;
  bool fails = false;  ///< parts of it do
};

// The parameters of a part each, for a system of so many lines.

/// A snoop filter that is full most of the time.
Value::Map drawn_filter(Draw& draw, std::uint64_t lines, bool blocks);
/// A home of lines that are kept coherent in this way: "hdm-db", "hdm-h" or "hdm-d".
Value::Map drawn_home(Draw& draw, const std::string& coherence, std::uint64_t lines);
Value::Map drawn_memory(Draw& draw, const std::string& capacity);
/// A cache of few lines; `notices`: whether it says what leaves it.
void add_drawn_cache(Draw& draw, Value::Map& requester, CleanEvictions& notices);

/// How many accesses of each requester to play, from the first.
using Lengths = std::vector<std::size_t>;
/// One for each run, so that it may remember what it has seen. None: nothing is changed.
using MakeFault = std::function<Fault()>;
/// What went wrong; empty: nothing. With a log if wanted. A fault changes each message that is sent.
std::string play(const RandomCase& made, const Lengths& lengths, bool log, const MakeFault& fault = {});

/// A case that fails, as small as was found.
struct RandomFailure {
  std::uint64_t seed;
  RandomCase made;
  Lengths lengths;
  /// Which it is.
  std::string text() const;
};
using MakeCase = std::function<RandomCase(std::uint64_t seed)>;
/// Plays the cases of seeds from `first` on, until they have made so many accesses: `per_seed` each. None:
/// nothing goes wrong.
std::optional<RandomFailure> first_failure(const MakeCase& make, std::uint64_t first, std::uint64_t accesses,
                                           std::uint64_t per_seed, const MakeFault& fault = {});
/// Plays as the environment says. Fails with the smallest case that was found, and prints its log.
void play_random(const MakeCase& make, std::uint64_t accesses, std::uint64_t per_seed);

}  // namespace cxloom::test
