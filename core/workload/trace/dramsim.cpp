// DRAMSim2's two kinds of traces and DRAMsim3's: an address, an operation, and a cycle.
// Read as TraceBasedSim.cpp of github.com/umd-memsys/DRAMSim2 and src/common.cc of
// github.com/umd-memsys/DRAMsim3 read them.
#include <algorithm>
#include <array>
#include <string>

#include "workload/trace/format.hpp"

namespace cxloom {

namespace {

enum class Simulator : std::uint8_t { kDramsim3, kMase, kK6 };

struct Operation {
  std::string_view name;
  AccessKind kind;
  std::array<bool, 3> of;  // which of the simulators' traces have it
};
constexpr std::array<Operation, 11> kOperations{
    {{"READ", AccessKind::kRead, {true, true, false}},
     {"WRITE", AccessKind::kWrite, {true, true, false}},
     {"read", AccessKind::kRead, {true, false, false}},
     {"write", AccessKind::kWrite, {true, false, false}},
     {"IFETCH", AccessKind::kRead, {false, true, false}},
     {"P_MEM_RD", AccessKind::kRead, {false, false, true}},
     {"P_MEM_WR", AccessKind::kWrite, {false, false, true}},
     {"P_FETCH", AccessKind::kRead, {false, false, true}},
     {"P_LOCK_RD", AccessKind::kRead, {false, false, true}},
     {"P_LOCK_WR", AccessKind::kRead, {false, false, true}},  // so DRAMSim2 has it
     {"BOFF", AccessKind::kWrite, {false, false, true}}}};

const Operation* operation_of(std::string_view word) {
  const auto* const found = std::ranges::find(kOperations, word, &Operation::name);
  return found == kOperations.end() ? nullptr : found;
}

/// "READ, WRITE, read or write of dramsim3; ..."
std::string operations() {
  constexpr std::array<std::string_view, 3> kForms{"dramsim3", "dramsim2-mase", "dramsim2-k6"};
  std::string all;
  for (std::size_t form = 0; form < kForms.size(); ++form) {
    std::string names;
    std::string_view last;
    for (const Operation& operation : kOperations) {
      if (!operation.of[form]) continue;
      if (!last.empty()) names += (names.empty() ? "" : ", ") + std::string(last);
      last = operation.name;
    }
    all += (form ? "; " : "") + names + " or " + std::string(last) + " of " + std::string(kForms[form]);
  }
  return all;
}

template <Simulator simulator>
bool fits_dramsim(const TraceWords& line) {
  if (line.size() < 2 || !is_hexadecimal(line[0])) return false;
  const Operation* operation = operation_of(line[1]);
  return operation && operation->of[static_cast<std::size_t>(simulator)];
}

constexpr std::string_view kDramsimLine = "0xADDRESS READ|WRITE CYCLE";

class DramsimReader final : public FormatReader {
 public:
  explicit DramsimReader(const TraceOptions& options) : clock_(options.tick) {}

  void read(const TraceWords& line, AccessQueue& accesses) override {
    line.expect(3, 3, "0xADDRESS OPERATION CYCLE");
    const Operation* operation = operation_of(line[1]);
    if (!operation) line.refuse("bad kind", line[1], operations());
    Access access = line_access(line.hexadecimal(0), operation->kind);
    clock_.stamp(access, line, "cycle", line[2]);
    accesses.add(access);
  }

 private:
  TickClock clock_;
};

std::unique_ptr<FormatReader> make_dramsim(const TraceOptions& options) {
  return std::make_unique<DramsimReader>(options);
}

}  // namespace

std::vector<TraceFormat> dramsim_formats() {
  return {{.name = "dramsim3",
           .about = "DRAMsim3",
           .line = kDramsimLine,
           .times = TraceTimes::kTicks,
           .fits = fits_dramsim<Simulator::kDramsim3>,
           .make = make_dramsim},
          {.name = "dramsim2-mase",
           .about = "DRAMSim2, of the kind mase",
           .line = "0xADDRESS IFETCH|READ|WRITE CYCLE",
           .times = TraceTimes::kTicks,
           .fits = fits_dramsim<Simulator::kMase>,
           .make = make_dramsim},
          {.name = "dramsim2-k6",
           .about = "DRAMSim2, of the kind k6",
           .line = "0xADDRESS P_MEM_RD|P_MEM_WR|P_FETCH|P_LOCK_RD|P_LOCK_WR|BOFF CYCLE",
           .times = TraceTimes::kTicks,
           .fits = fits_dramsim<Simulator::kK6>,
           .make = make_dramsim}};
}

}  // namespace cxloom
