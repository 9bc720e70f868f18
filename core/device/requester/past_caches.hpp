// The accesses of a requester that go past its caches: non-temporal stores, and those to memory of other
// types than write-back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "component/endpoint.hpp"
#include "device/requester/combining_buffers.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/address_map.hpp"
#include "protocol/request.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

class PastCaches final : private CombiningBuffers::BufferOwner {
 public:
  /// The requester whose accesses these are.
  class PastSender {
   public:
    /// A request for what a buffer writes; `written` gets it back.
    virtual Request& request_of_buffer() = 0;
    /// Sends a request to its cache or to memory.
    virtual void to_memory(Request& request) = 0;
    /// A store is in a buffer: it is over at its account's mark.
    virtual void buffered(Request& store) = 0;

   protected:
    ~PastSender() = default;
  };

  PastCaches(std::uint32_t buffers, Time process_time, Endpoint& endpoint, PastSender& requester);

  /// Some access goes past the caches, or may: there are regions of other types, or was such a store.
  bool used() const { return used_; }
  /// To be called before the run. `by_itself`: it makes its accesses in order, with a cache of the simulation
  /// or none. Throws InputError, below the path `work`, for memory types where it does not.
  void begin(bool by_itself, const std::string& work);
  /// Nothing is in the buffers, nor waits for them.
  bool empty() const { return buffers_.empty(); }
  std::uint32_t occupied() const { return buffers_.occupied(); }
  void drain() { buffers_.drain(); }
  /// Writes those of `which` alone. Whether there are some.
  bool drain(const std::function<bool(Address)>& which) { return buffers_.drain(which); }

  /// Uncacheable memory is accessed one access at a time, with nothing else beside it: where the next access
  /// waits for that, with so many in flight. Null: it does not.
  WaitList* waits_in_order(const Access& next, std::uint64_t in_flight);
  /// A store that goes past the caches is issued. Throws InputError where it must not.
  void begin_store(Request& request, const std::string& work);
  /// Throws InputError for such a store, the access of that number, if the requester can make none.
  void check_store(std::uint64_t number) const;
  /// What the type of its memory says of a request. Whether that is all for now.
  bool takes(Request& request);
  /// The answer to what a buffer wrote, which goes back to the requester.
  void written(Request& request) { buffers_.written(request); }

  void report(MeasureSink& sink) const { buffers_.report(sink); }
  void resources(ResourceSink& sink) const { buffers_.resources(sink); }

 private:
  Request& write_of_buffer() override { return requester_.request_of_buffer(); }
  void send_past(Request& request) override;
  void buffered(Request& store) override { requester_.buffered(store); }
  void let_go(Request& request) override { send_past(request); }
  const AddressMap& map() const { return endpoint_.address_map(); }
  bool is_uncacheable(const Access& access) const;

  Time process_time_;
  Endpoint& endpoint_;
  PastSender& requester_;
  bool used_ = false;
  bool by_itself_ = true;
  bool uncacheable_ = false;  // the access issued last is to uncacheable memory
  WaitList in_order_;
  CombiningBuffers buffers_;
};

}  // namespace cxloom
