// The requests that nothing answers (MWr).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernel/shared_state.hpp"

namespace cxloom {

class Kernel;
struct Message;
struct Request;

/// A posted write takes one, which gives its message a tag; who gets the message gives it back. Each part of
/// a divided system takes from a pool of its own. What ends in another part goes back between windows.
class PostedRequests final : public SharedState {
 public:
  PostedRequests();
  ~PostedRequests() override;

  /// The system has parts with these kernels. To be called before the first one is taken.
  void divide(const std::vector<const Kernel*>& parts);
  /// `at`: the kernel of who asks.
  Request& take(const Kernel& at);
  /// The one whose message this is; null: it was not taken from here.
  Request* of(const Message& message);
  void give_back(const Kernel& at, Request& request);
  /// How many have been taken and not given back.
  std::uint64_t live() const;

  void gather() override;

 private:
  struct Part;

  std::size_t part_of(const Kernel& kernel) const;
  Part& owner_of(const Request& request);

  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace cxloom
