// A medium behind a controller that only writes down when each access is done.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/measure.hpp"
#include "core/support/link_bench.hpp"
#include "core/support/media_kinds.hpp"
#include "core/support/victims.hpp"
#include "memory/media/media.hpp"

namespace cxloom::test {

template <class Medium>
class MediaBench final : public MediaClient {
 public:
  explicit MediaBench(const typename Medium::Params& params, Bytes capacity = Bytes{1ULL << 30U})
      : media_(params, MediaContext{kernel_,
                                    owner_,
                                    *this,
                                    media_kinds(),
                                    victims(),
                                    capacity,
                                    1,
                                    {},
                                    &cache_kinds().prefetchers}) {}

  void media_done(Message& message, Time at) override {
    EXPECT_GE(at, kernel_.now());
    EXPECT_GE(at, last_) << "not in the order of completion";
    last_ = at;
    EXPECT_TRUE(done.emplace(&message, at).second) << "done twice";
    EXPECT_EQ(message.account->mark(), at);
  }
  /// An access that is ready at `ready`, not before those given earlier.
  Message& access(std::uint64_t address, Time ready, Opcode opcode = Opcode::kMemRd,
                  std::uint16_t size = 64) {
    Message& message = messages.tracked(opcode, ready);
    message.size = size;
    media_.access(message, Address{address}, ready);
    ++given;
    return message;
  }
  void run(Time limit = Time::max()) { kernel_.run(limit, kAllEvents); }
  Time latency(const Message& message) const { return done.at(&message) - message.age; }
  /// When the last access was done.
  Time end() const { return last_; }
  /// What the medium measured, by name. The window is what lies between `open` and this.
  std::map<std::string, double, std::less<>> measures() {
    struct Sink final : MeasureSink {
      void add(const MeasureInfo& measure, double value) override { found.emplace(measure.name, value); }
      void count(const MeasureInfo& measure, std::uint64_t value) override {
        found.emplace(measure.name, static_cast<double>(value));
      }
      void give(const MeasureInfo& measure, Value value) override {
        if (const double* number = value.as_real()) found.emplace(measure.name, *number);
      }
      std::map<std::string, double, std::less<>> found;
    };
    media_.close_window(kernel_.now());
    kernel_.close_window(kernel_.now());
    Sink sink;
    media_.report(sink);
    return sink.found;
  }
  void open() {
    media_.open_window(kernel_.now());
    kernel_.open_window(kernel_.now());
  }
  Kernel& kernel() { return kernel_; }
  Medium& media() { return media_; }

  Messages messages;
  std::map<const Message*, Time> done;
  std::size_t given = 0;

 private:
  Kernel kernel_;
  Probe owner_{kernel_, "mem"};
  Medium media_;
  Time last_;
};

}  // namespace cxloom::test
