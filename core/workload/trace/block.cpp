// Traces of disks: requests to read or write some sectors. Each becomes its lines, and times count from the
// first request.
#include <algorithm>
#include <limits>

#include "workload/trace/format.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kSector = 512;
constexpr std::uint64_t kMostSectors = AccessQueue::kMostBytes / kSector;
constexpr std::uint64_t kMostSector = TraceWords::kLargest / kSector - kMostSectors;

/// What all of them share: a clock that starts with the first request and, as recorders put requests together
/// that several processors made, does not go back where the file does.
class BlockReader : public FormatReader {
 public:
  std::string remark() const override {
    if (earlier_ == 0) return {};
    return counted(earlier_, "request") +
           " with a time before that of the request above: taken as at the same time";
  }

 protected:
  explicit BlockReader(const Period& tick) : tick_(tick) {}

  void add(const TraceWords& line, std::string_view time_word, std::uint64_t ticks, Access& access,
           std::uint64_t bytes, AccessQueue& accesses) {
    if (!begun_) first_ = ticks;
    begun_ = true;
    earlier_ += ticks < first_ + latest_ ? 1 : 0;
    latest_ = std::max(latest_, ticks - std::min(ticks, first_));
    const auto time = tick_.after(latest_);
    if (!time) {
      line.refuse(
          "bad time", time_word,
          "at most " + std::to_string(tick_.most_steps()) + " after the first, " + std::to_string(first_));
    }
    access.timestamp = *time;
    access.timed = true;
    accesses.add_lines(access, bytes);
  }

 private:
  Period tick_;
  bool begun_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t latest_ = 0;  // after the first
  std::uint64_t earlier_ = 0;
};

// --- Microsoft Research's servers, as the SNIA distributes them: the README of "MSR Cambridge Block I/O
// Traces"

constexpr std::string_view kMsrLine = "TIMESTAMP,HOSTNAME,DISK,Read|Write,OFFSET,SIZE,RESPONSE_TIME";
constexpr std::uint64_t kFiletimeTick = 100'000;  // picoseconds

bool is_msr_header(const TraceWords& line) { return line.size() == 7 && line[0] == "Timestamp"; }

bool fits_msr(const TraceWords& line) {
  return is_msr_header(line) ||
         (line.size() == 7 && is_decimal(line[0]) && (line[3] == "Read" || line[3] == "Write"));
}

class MsrReader final : public BlockReader {
 public:
  MsrReader() : BlockReader(Period(Rate::per_time(1, kFiletimeTick))) {}

  void read(const TraceWords& line, AccessQueue& accesses) override {
    if (is_msr_header(line)) return;
    line.expect(7, 7, kMsrLine);
    if (line[3] != "Read" && line[3] != "Write") line.refuse("bad kind", line[3], "Read or Write");
    Access access;
    access.kind = line[3] == "Read" ? AccessKind::kRead : AccessKind::kWrite;
    access.thread =
        static_cast<std::uint32_t>(line.decimal("disk", 2, std::numeric_limits<std::uint32_t>::max()));
    access.address = Address{line.decimal("offset", 4, TraceWords::kLargest - AccessQueue::kMostBytes)};
    const std::uint64_t bytes = line.decimal("size", 5, AccessQueue::kMostBytes);
    if (bytes == 0) line.refuse("bad size", line[5], "at least 1");
    add(line, line[0], line.decimal("timestamp", 0), access, bytes, accesses);
  }
};

// --- MQSim, src/host/ASCII_Trace_Definition.h of github.com/CMU-SAFARI/MQSim

constexpr std::string_view kMqsimLine = "TIME DEVICE SECTOR SECTORS 0(write)|1(read)";

bool fits_mqsim(const TraceWords& line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_decimal(line[i])) return false;
  }
  return line.size() == 5 && (line[4] == "0" || line[4] == "1");
}

class MqsimReader final : public BlockReader {
 public:
  explicit MqsimReader(const TraceOptions& options) : BlockReader(options.tick) {}

  void read(const TraceWords& line, AccessQueue& accesses) override {
    line.expect(5, 5, kMqsimLine);
    if (line[4] != "0" && line[4] != "1") line.refuse("bad kind", line[4], "0 for a write or 1 for a read");
    Access access;
    access.kind = line[4] == "1" ? AccessKind::kRead : AccessKind::kWrite;
    access.thread =
        static_cast<std::uint32_t>(line.decimal("device", 1, std::numeric_limits<std::uint32_t>::max()));
    access.address = Address{line.decimal("sector", 2, kMostSector) * kSector};
    const std::uint64_t sectors = line.decimal("number of sectors", 3, kMostSectors);
    if (sectors == 0) line.refuse("bad number of sectors", line[3], "at least 1");
    add(line, line[0], line.decimal("time", 0), access, sectors * kSector, accesses);
  }
};

// --- blkparse, doc/blkparse.1 and blkparse_fmt.c of blktrace (git.kernel.dk)

constexpr std::string_view kBlkparseLine =
    "MAJOR,MINOR CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + SECTORS [COMMAND]";
constexpr std::size_t kAction = 5;
constexpr std::size_t kRwbs = 6;
constexpr std::uint64_t kNanoseconds = 1'000'000'000;

bool is_event(const TraceWords& line) {
  if (line.size() <= kRwbs) return false;
  const std::size_t comma = line[0].find(',');
  return comma != std::string_view::npos && is_decimal(line[0].substr(0, comma)) &&
         is_decimal(line[0].substr(comma + 1)) && is_decimal(line[1]) && is_decimal(line[2]) &&
         is_decimal(line[4]);
}

// The sums of a trace stand at its end, first of each CPU.
bool begins_sums(const TraceWords& line) {
  return line[0] == "Total" || (line[0].starts_with("CPU") && line.line().ends_with(':'));
}

bool is_its_own(const TraceWords& line) {
  return line[0] == "Input" && line.size() > 2 && line[1] == "file";  // "Input file sda.blktrace.0 added"
}

template <char action>
bool fits_blkparse(const TraceWords& line) {
  if (is_its_own(line)) return true;
  // Where requests are issued, those are what the device sees.
  return is_event(line) && (action == 'D' || line[kAction] != "D");
}

template <char action>
class BlkparseReader final : public BlockReader {
 public:
  BlkparseReader() : BlockReader(Period(Rate::per_time(1, 1000))) {}

  void read(const TraceWords& line, AccessQueue& accesses) override {
    ended_ = ended_ || begins_sums(line);
    if (ended_ || is_its_own(line)) return;
    if (!is_event(line)) line.refuse("not an event of blkparse", line.line(), std::string(kBlkparseLine));
    if (line[kAction].size() != 1 || line[kAction][0] != action) return;
    Access access;
    // Discards and flushes with a sector move no data; F before W marks a flush beside the write.
    const std::string_view rwbs = line[kRwbs];
    const bool writes = rwbs.find('W') != std::string_view::npos;
    if (rwbs.find('D') != std::string_view::npos || (!writes && rwbs.find('R') == std::string_view::npos))
      return;
    if (line.size() < 10 || line[8] != "+") return;  // a command of the device's own, without a sector
    access.kind = writes ? AccessKind::kWrite : AccessKind::kRead;
    access.address = Address{line.decimal("sector", 7, kMostSector) * kSector};
    const std::uint64_t sectors = line.decimal("number of sectors", 9, kMostSectors);
    if (sectors > 0) add(line, line[3], nanoseconds(line), access, sectors * kSector, accesses);
  }

 private:
  static std::uint64_t nanoseconds(const TraceWords& line) {
    constexpr std::size_t kPlaces = 9;
    const std::size_t point = line[3].find('.');
    if (point == std::string_view::npos || line[3].size() != point + 1 + kPlaces)
      line.refuse("bad time", line[3], "seconds with nine places, such as 0.000012345");
    const std::uint64_t seconds =
        line.decimal("time", line[3].substr(0, point), TraceWords::kLargest / kNanoseconds - 1);
    return seconds * kNanoseconds + line.decimal("time", line[3].substr(point + 1), kNanoseconds - 1);
  }

  bool ended_ = false;
};

template <class Reader>
std::unique_ptr<FormatReader> make_block(const TraceOptions& /*options*/) {
  return std::make_unique<Reader>();
}

}  // namespace

std::vector<TraceFormat> block_formats() {
  return {{.name = "msr",
           .about = "MSR Cambridge, CSV of the SNIA",
           .line = kMsrLine,
           .times = TraceTimes::kStandard,
           .fits = fits_msr,
           .make = make_block<MsrReader>,
           .commas = true},
          {.name = "blkparse",
           .about = "blkparse, what was issued to the device (D)",
           .line = kBlkparseLine,
           .times = TraceTimes::kStandard,
           .fits = fits_blkparse<'D'>,
           .make = make_block<BlkparseReader<'D'>>},
          {.name = "blkparse-queued",
           .about = "blkparse, what was queued (Q)",
           .line = kBlkparseLine,
           .times = TraceTimes::kStandard,
           .fits = fits_blkparse<'Q'>,
           .make = make_block<BlkparseReader<'Q'>>},
          {.name = "mqsim",
           .about = "MQSim",
           .line = kMqsimLine,
           .times = TraceTimes::kTicks,
           .fits = fits_mqsim,
           .make = [](const TraceOptions& options) -> std::unique_ptr<FormatReader> {
             return std::make_unique<MqsimReader>(options);
           }}};
}

}  // namespace cxloom
