// ChampSim's traces: a record of bytes for each instruction, inc/trace_instruction.h of
// github.com/ChampSim/ChampSim.
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "workload/trace/format.hpp"

namespace cxloom {

namespace {

// What lies where in a record, little endian: the instruction's address first, then whether it is a branch
// and whether that was taken, registers, and the addresses that it writes and reads.
struct ChampsimRecord {
  std::size_t bytes;
  std::size_t written;  // offset of the addresses that it writes
  std::size_t writes;   // how many there may be
  std::size_t reads;    // behind the writes
};
constexpr ChampsimRecord kInstruction{64, 16, 2, 4};  // input_instr
constexpr ChampsimRecord kCloudsuite{96, 24, 4, 4};   // cloudsuite_instr, with what aligns its addresses

std::uint64_t number_at(std::string_view record, std::size_t offset) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t number = 0;
  std::memcpy(&number, record.data() + offset, sizeof number);
  return number;
}

// Whether an address has 57 bits at most, sign-extended; all that such tools trace are like this.
bool is_canonical(std::uint64_t address) {
  const std::uint64_t above = address >> 56U;
  return above == 0 || above == 0xff;
}

// There is no mark at the beginning. In bytes of anything else some record soon has other flags or no such
// addresses.
template <const ChampsimRecord& shape>
bool fits_champsim(std::string_view record) {
  const auto flag = [&](std::size_t at) { return static_cast<unsigned char>(record[at]); };
  if (number_at(record, 0) == 0 || !is_canonical(number_at(record, 0))) return false;
  if (flag(8) > 1 || flag(9) > flag(8)) return false;
  for (std::size_t i = 0; i < shape.writes + shape.reads; ++i) {
    if (!is_canonical(number_at(record, shape.written + 8 * i))) return false;
  }
  return true;
}

/// Its accesses have no sizes. What an instruction reads comes before what it writes.
template <const ChampsimRecord& shape>
class ChampsimReader final : public FormatReader {
 public:
  void read_record(std::string_view record, AccessQueue& accesses) override {
    gap_ += gap_ != std::numeric_limits<std::uint32_t>::max() ? 1 : 0;
    for (std::size_t i = 0; i < shape.reads; ++i)
      add(number_at(record, shape.written + 8 * (shape.writes + i)), AccessKind::kRead, accesses);
    for (std::size_t i = 0; i < shape.writes; ++i)
      add(number_at(record, shape.written + 8 * i), AccessKind::kWrite, accesses);
  }

 private:
  // An address of zero is none.
  void add(std::uint64_t address, AccessKind kind, AccessQueue& accesses) {
    if (address == 0) return;
    Access access = line_access(address, kind);
    access.instruction_gap = std::exchange(gap_, 0);
    accesses.add(access);
  }

  std::uint32_t gap_ = 0;  // instructions since the access before
};

template <const ChampsimRecord& shape>
std::unique_ptr<FormatReader> make_champsim(const TraceOptions& /*options*/) {
  return std::make_unique<ChampsimReader<shape>>();
}

}  // namespace

std::vector<TraceFormat> champsim_formats() {
  return {{.name = "champsim",
           .about = "ChampSim",
           .line = "records of 64 bytes",
           .make = make_champsim<kInstruction>,
           .record = kInstruction.bytes,
           .fits_record = fits_champsim<kInstruction>},
          {.name = "champsim-cloudsuite",
           .about = "ChampSim, of its kind cloudsuite",
           .line = "records of 96 bytes",
           .make = make_champsim<kCloudsuite>,
           .record = kCloudsuite.bytes,
           .fits_record = fits_champsim<kCloudsuite>}};
}

}  // namespace cxloom
