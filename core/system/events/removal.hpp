// A memory that software takes out of use while programs have pages there: docs/model/removal.md.
//
// No page is placed there any more. All pages of all programs leave, those of a program one after the other.
// Then each cache is emptied of the memory's lines, and then each persist buffer. Then nobody has anything to
// do with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "device/requester/page_mover.hpp"
#include "device/switch/persist_domain.hpp"
#include "system/events/answered.hpp"

namespace cxloom {

class Kernel;
class MovablePages;
class Requester;
class System;

/// The nodes of a program that are memory of a device, as a whole or as logical devices.
std::vector<std::size_t> nodes_of_device(const MovablePages& pages, const std::string& device);

class Removal final : private LinesLeaving {
 public:
  /// The nodes that the pages of a program may go to, in the order in which these are tried.
  using Targets = std::function<std::vector<std::size_t>(const MovablePages& pages)>;

  /// `changed` is called when the memory is in use again.
  Removal(const Kernel& kernel, System& system, NodeId memory, std::function<void()> changed);
  ~Removal() override;

  /// To be called once, at its time.
  void begin(const Targets& targets, Rate rate);

  NodeId memory() const { return memory_; }
  Time began() const { return began_; }
  /// None: it is under way, or was given up.
  std::optional<Time> done() const { return done_; }
  /// Pages leave it, or lines.
  bool under_way() const { return !done_ && !given_up_; }
  /// Pages were left, and the memory is in use again.
  bool given_up() const { return given_up_; }
  std::uint64_t pages_left() const { return pages_left_; }
  std::uint64_t bytes_moved() const { return bytes_moved_; }
  /// Modified lines that caches had of it in the end.
  std::uint64_t lines_flushed() const { return lines_flushed_; }
  /// When it began, and when it ended; the latter is empty while it is under way.
  const std::vector<AnsweredSoFar>& answered_before() const { return answered_before_; }
  const std::vector<AnsweredSoFar>& answered_until_end() const { return answered_until_end_; }

 private:
  class Leaver;

  void program_over(std::uint64_t pages_left);
  void empty_caches();
  void empty_buffers();
  void line_left() override;
  void end(bool empty);

  const Kernel& kernel_;
  System& system_;
  NodeId memory_;
  std::function<void()> changed_;
  std::vector<std::unique_ptr<Leaver>> leavers_;  // a program each
  std::size_t pending_ = 0;                       // programs that are not through
  bool flushing_ = false;                         // their pages have left, and their caches are emptied
  Time began_;
  std::optional<Time> done_;
  bool given_up_ = false;
  std::uint64_t pages_left_ = 0;
  std::uint64_t bytes_moved_ = 0;
  std::uint64_t lines_flushed_ = 0;
  std::vector<AnsweredSoFar> answered_before_;
  std::vector<AnsweredSoFar> answered_until_end_;
};

}  // namespace cxloom
