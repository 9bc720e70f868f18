// A stand-in of what the back end for SST uses of events: handlers.
#pragma once

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): the names are SST's.
namespace SST {

using SimTime_t = std::uint64_t;
using ComponentId_t = std::uint64_t;

class Event {
 public:
  class HandlerBase {
   public:
    virtual ~HandlerBase() = default;
    virtual void operator()(Event* event) = 0;
  };
  template <typename Class, auto function>
  class Handler : public HandlerBase {
   public:
    explicit Handler(Class* object) : object_(object) {}
    void operator()(Event* event) override { (object_->*function)(event); }

   private:
    Class* object_;
  };
};

}  // namespace SST
// NOLINTEND(readability-identifier-naming)
