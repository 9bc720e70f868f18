// The memory that a simulation will take, added up before anything is built: each kind of component says
// beside its parameters what these take, once, in `static void estimate(const Params&, MemoryEstimate&)`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/parameters.hpp"

namespace cxloom {

class KindList;

class MemoryEstimate {
 public:
  /// The memory that one parameter takes.
  struct Part {
    std::string key;  ///< of the parameter, such as "devices.host.cache.size"; empty: nobody's in particular
    std::string value;  ///< as a person would write it
    std::uint64_t bytes = 0;
  };

  /// `media` are the kinds that parameters name; null: none.
  explicit MemoryEstimate(const KindList* media = nullptr) : media_(media) {}

  /// `count` things of `each` bytes because of the parameter `key`.
  void add(const std::string& key, const std::string& value, std::uint64_t count, std::uint64_t each);
  /// Adds what one more of the parts just added takes.
  void add_like_the_last(std::uint64_t bytes);
  /// Adds what is inside of the parameter `key`. The keys of the parts that `estimate`
  /// adds are relative to it, and so are the keys of an InputError that it throws.
  template <class Estimate>
  void add_below(const std::string& key, Estimate estimate) {
    const std::string outside = std::exchange(prefix_, prefix_.empty() ? key : prefix_ + "." + key);
    try {
      estimate(*this);
    } catch (const InputError& error) {
      throw error.with_path(key);
    }
    prefix_ = outside;
  }
  /// Adds what media take.
  void add_media(const std::string& key, const KindSpec& media);

  /// Accesses that the component at hand makes at most: with fewer it never fills a longer queue.
  std::uint64_t accesses() const { return accesses_; }
  void set_accesses(std::uint64_t most) { accesses_ = most; }

  /// The component at hand brings queues to its ports (`Component::arbitrates`): its links serve them.
  void queue_at_ports() { queues_at_ports_ = true; }
  /// Whether that was said since it was asked last.
  bool take_queues_at_ports() { return std::exchange(queues_at_ports_, false); }

  std::uint64_t bytes() const { return bytes_; }
  /// The parameter that takes most.
  const Part& largest() const { return largest_; }

 private:
  const KindList* media_;
  std::string prefix_;
  std::uint64_t accesses_ = ~std::uint64_t{0};
  std::uint64_t bytes_ = 0;
  bool queues_at_ports_ = false;
  Part largest_;
};

/// "12.3 GB", for messages.
std::string memory_text(std::uint64_t bytes);

/// Bytes that this process can still take: of what the machine has free, its control group and its own limit
/// the least.
std::uint64_t available_memory();

}  // namespace cxloom
