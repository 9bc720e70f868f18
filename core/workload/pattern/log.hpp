// The pattern of a log: records are appended, each durable before the end of the log says so.
#pragma once

#include <cstdint>
#include <optional>

#include "base/schema.hpp"
#include "workload/pattern/pattern.hpp"
#include "workload/stream/persists.hpp"

namespace cxloom {

struct LogAppendParams {
  Bytes footprint{1ULL << 30U};
  Address base;
  Bytes record{256};
  Flush flush = Flush::kDrop;

  static void describe(Schema<LogAppendParams>& schema) {
    schema.doc(
        "Appends to a log: a record is written and flushed, and behind a fence the end of the log, which is "
        "the first line of the footprint. Behind another fence the next record follows, from the start again "
        "at the end of the footprint.");
    schema.field("footprint", &LogAppendParams::footprint).doc("Bytes of the log, its first line included.");
    schema.field("base", &LogAppendParams::base)
        .where([](const Address& base) { return base.value() % kLineBytes == 0; }, "a multiple of 64")
        .doc("First address of the log.");
    schema.field("record", &LogAppendParams::record)
        .min(Bytes{kLineBytes})
        .max(Bytes{4096})
        .where([](const Bytes& bytes) { return bytes.count() % kLineBytes == 0; }, "a multiple of 64B")
        .doc("Bytes of a record.");
    PersistParams::describe_flush(schema);
    schema.rule("the footprint is smaller than a record and the line before it", [](const auto& params) {
      return params.footprint.count() >= params.record.count() + kLineBytes;
    });
  }
};

class LogAppend final : public AccessStream {
 public:
  using Params = LogAppendParams;
  LogAppend(const Params& params, const PatternContext& context)
      : params_(params),
        cached_(context.cached),
        records_((params.footprint.count() - kLineBytes) / params.record.count()) {
    check_flush(params.flush, cached_);
  }

  std::uint64_t left_at_least() const override { return kEndless; }
  bool may_store_past() const override { return false; }
  bool next(Access& access) override {
    access = {};
    access.address = params_.base;
    access.size = kLineBytes;
    if (!end_) {
      access.address = Address{params_.base.value() + kLineBytes + record_ * params_.record.count()};
      access.size = static_cast<std::uint16_t>(params_.record.count());
    }
    const bool write = cached_ && !written_;
    access.kind = write ? AccessKind::kWrite : AccessKind::kFlush;
    access.keeps = !write && params_.flush == Flush::kKeep;
    if (started_ && !written_) access.dependence = kAllBefore;
    started_ = true;
    written_ = write;
    if (write) return true;
    if (end_ && ++record_ == records_) record_ = 0;
    end_ = !end_;
    return true;
  }
  std::optional<AddressRange> range() const override {
    return AddressRange{params_.base, kLineBytes + records_ * params_.record.count()};
  }

 private:
  Params params_;
  bool cached_;
  std::uint64_t records_;
  std::uint64_t record_ = 0;  // the next one
  bool end_ = false;          // the end of the log comes next
  bool written_ = false;      // and is to be flushed
  bool started_ = false;
};

}  // namespace cxloom
