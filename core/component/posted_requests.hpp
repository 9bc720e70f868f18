// The requests that nothing answers (MWr).
#pragma once

#include <cstdint>
#include <memory>

namespace cxloom {

template <class T>
class Pool;
struct Request;

/// A posted write takes one, whose index is the tag of its message; who gets the message gives it back.
class PostedRequests {
 public:
  PostedRequests();
  ~PostedRequests();

  Request& take();
  /// Null: none was ever taken with this tag.
  Request* find(std::uint32_t tag);
  void give_back(Request& request);
  /// How many have been taken and not given back.
  std::uint64_t live() const;

 private:
  std::unique_ptr<Pool<Request>> pool_;
};

}  // namespace cxloom
