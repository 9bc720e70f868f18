// Visits every state that a system can reach: by every order in which its messages may arrive, and in which
// its requests may be made. It knows nothing of caches: docs/model/coherence.md says what it is used for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cxloom::test {

/// A system at one moment. Between two choices nothing happens by itself.
class Explorable {
 public:
  virtual ~Explorable() = default;

  /// What may happen next, numbered from zero: first the deliveries of messages, then the requests that may
  /// be made. Two systems with one fingerprint have the same choices.
  virtual std::size_t choices() const = 0;
  /// How many of the choices are deliveries.
  virtual std::size_t deliveries() const = 0;
  virtual void take(std::size_t choice) = 0;
  /// Every request has its answer, and no message is on its way.
  virtual bool idle() const = 0;
  /// What must hold and does not; empty: all is well.
  virtual std::string violation() = 0;
  /// All that its future depends on. Equal futures may have two, but there must be finitely many.
  virtual std::string fingerprint() const = 0;

  /// From now on it writes down what happens, for people.
  virtual void keep_log() = 0;
  virtual const std::vector<std::string>& log() const = 0;
};

struct Exploration {
  std::size_t states = 0;
  std::size_t transitions = 0;
  std::size_t depth = 0;  ///< of the state that is furthest from the start: choices on the shortest way to it
  std::size_t ends = 0;   ///< states in which nothing is under way
  bool whole = false;     ///< no state was left out
  std::string violation;  ///< empty: none
  std::string path;       ///< the shortest way to the violation, as a log

  /// "6893 states, 14596 transitions, depth 32, 4 idle"
  std::string text() const;
};

/// Makes a system at its start; always the same.
using MakeExplorable = std::function<std::unique_ptr<Explorable>()>;
/// Is shown a state, and its fingerprint.
using SeeExplorable = std::function<void(const Explorable& system, const std::string& fingerprint)>;

class Explorer {
 public:
  explicit Explorer(MakeExplorable make, std::size_t most_states = 5'000'000)
      : make_(std::move(make)), most_states_(most_states) {}

  /// Each new state is shown to `see` once.
  Explorer& show(SeeExplorable see) { return see_ = std::move(see), *this; }

  /// To be called once. Breadth first, until every state is known or something is violated: by a state, by
  /// one in which requests wait for ever (deadlock), by messages that never end (livelock), or by an
  /// exception.
  const Exploration& explore();

  /// Whether the fingerprint says enough about the states that were explored. Goes every transition once
  /// more, by the way on which the explorer first found its beginning. Compares what may follow with what
  /// followed when its end was first found. Returns the first difference; empty: none.
  std::string check_fingerprints() const;

 private:
  struct State {
    std::uint32_t from = 0;
    std::uint16_t by = 0;  ///< the choice there
    std::uint16_t choices = 0;
    std::uint16_t deliveries = 0;
    std::uint32_t first = 0;  ///< of its transitions in `to_`
  };

  std::vector<std::uint16_t> path_to(std::uint32_t state) const;
  std::unique_ptr<Explorable> replay(const std::vector<std::uint16_t>& path) const;
  std::string attempt(Explorable& system, std::size_t choice) const;
  void violated(const std::string& what, const std::vector<std::uint16_t>& path);
  void add(const Explorable& system, const std::string& fingerprint, std::uint32_t from, std::uint16_t by);
  void find_livelock();

  MakeExplorable make_;
  SeeExplorable see_;
  std::size_t most_states_;
  std::vector<State> states_;
  std::vector<std::uint32_t> to_;  // by state and choice, in the order of the states
  Exploration found_;
};

}  // namespace cxloom::test
