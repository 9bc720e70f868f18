// A stand-in of the back ends of SST's memory controllers.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sst/core/event.h>
#include <sst/core/link.h>
#include <sst/core/params.h>

// What a library of elements says of itself.
#define SST_ELI_REGISTER_SUBCOMPONENT(...)
#define SST_ELI_ELEMENT_VERSION(...)
#define SST_ELI_DOCUMENT_PARAMS(...)
#define MEMBACKEND_ELI_PARAMS
#define CALL_INFO 0, __FILE__, __func__

namespace SST {

class TimeConverter {};

namespace standin {

/// Where SST would have ended.
struct Ended : std::runtime_error {
  Ended(int its_code, const std::string& text) : std::runtime_error(text), code(its_code) {}
  int code;
};

}  // namespace standin

class Output {
 public:
  [[noreturn]] void fatal(std::uint32_t /*line*/, const char* /*file*/, const char* /*function*/, int code,
                          const char* format, ...) {
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    throw standin::Ended(code, text);
  }
};

namespace MemHierarchy {

using Addr = std::uint64_t;

class SimpleMemBackend {
 public:
  using ReqId = std::uint64_t;

  SimpleMemBackend(ComponentId_t /*id*/, Params& params)
      : size_(static_cast<std::size_t>(
            params.find<UnitAlgebra>("mem_size", UnitAlgebra("0B")).getRoundedValue())) {}
  virtual ~SimpleMemBackend() = default;

  virtual bool issueRequest(ReqId id, Addr address, bool is_write, unsigned bytes) = 0;
  virtual bool isClocked() { return true; }
  virtual void finish() {}
  virtual std::size_t getMemSize() { return size_; }
  void setResponseHandler(std::function<void(ReqId)> handler) { handler_ = std::move(handler); }
  std::string getName() const { return "memory:backend"; }

 protected:
  void handleMemResponse(ReqId id) { handler_(id); }
  Link* configureSelfLink(const std::string& /*name*/, const std::string& timebase,
                          Event::HandlerBase* handler) {
    if (timebase != "1ps") throw std::logic_error("the stand-in has picoseconds");
    links_.push_back(std::make_unique<Link>(handler));
    return links_.back().get();
  }
  TimeConverter getTimeConverter(const std::string& timebase) const {
    if (timebase != "1ps") throw std::logic_error("the stand-in has picoseconds");
    return {};
  }
  SimTime_t getCurrentSimTime(TimeConverter /*picoseconds*/) const { return standin::sst_clock.now; }

  std::unique_ptr<Output> the_output_ = std::make_unique<Output>();
  Output* output = the_output_.get();

 private:
  std::size_t size_;
  std::function<void(ReqId)> handler_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace MemHierarchy
}  // namespace SST
