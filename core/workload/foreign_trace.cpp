#include "workload/foreign_trace.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace cxloom {

namespace {

constexpr std::uint64_t kBurst = 64;
constexpr std::uint64_t kMostBursts = kBurst << 52U;  // of 64-bit addresses
constexpr std::uint64_t kLargestAddress = std::numeric_limits<std::uint64_t>::max();

struct FormInfo {
  std::size_t fewest;  // words of a line
  std::size_t most;
  std::string_view line;
};
constexpr std::array<FormInfo, 4> kForms{{{3, 3, "0xADDRESS READ|WRITE CYCLE"},
                                          {2, 2, "LD|ST ADDRESS"},
                                          {2, 2, "R|W CHANNEL,RANK,...,COLUMN"},
                                          {2, 3, "INSTRUCTIONS LOAD_ADDRESS [WRITE_BACK_ADDRESS]"}}};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) words.push_back(word);
  return words;
}

bool is_read(std::string_view word) { return word == "READ" || word == "read"; }
bool is_write(std::string_view word) { return word == "WRITE" || word == "write"; }
bool is_hexadecimal(std::string_view word) { return word.starts_with("0x") || word.starts_with("0X"); }

bool all_decimal(const std::vector<std::string_view>& words) {
  return std::all_of(words.begin(), words.end(), [](std::string_view word) {
    return word.find_first_not_of("0123456789") == std::string_view::npos;
  });
}

}  // namespace

std::optional<ForeignForm> foreign_form_of(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() >= 2 && (is_read(words[1]) || is_write(words[1]))) return ForeignForm::kDramsim3;
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  if (words[0] == "LD" || words[0] == "ST") return ForeignForm::kRamulatorLoadStore;
  if ((words[0] == "R" || words[0] == "W") && words[1].find(',') != std::string_view::npos)
    return ForeignForm::kRamulatorReadWrite;
  if (all_decimal(words)) return ForeignForm::kRamulatorSimpleO3;
  return std::nullopt;
}

ForeignTraceParser::ForeignTraceParser(ForeignForm form, Time tick, std::vector<std::uint64_t> levels)
    : form_(form), tick_(tick), levels_(std::move(levels)) {
  if (tick.ps() <= 0)
    throw InputError({"a tick must be longer than zero", to_text(tick), "at least 1ps", {}}, "tick");
  const bool needed = form == ForeignForm::kRamulatorReadWrite;
  if (needed && levels_.empty()) {
    throw InputError({"the trace has coordinates in a DRAM, whose size only whoever made it knows",
                      {},
                      "the number of channels, ranks, bank groups, banks, rows and columns of 64 B, such as "
                      "1,2,8,4,65536,128",
                      {}},
                     "levels");
  }
  if (!needed && !levels_.empty()) {
    throw InputError({"levels of a trace that has addresses", {}, "levels with ramulator2-read-write", {}},
                     "levels");
  }
  std::uint64_t bursts = 1;
  for (const std::uint64_t size : levels_) {
    if (size == 0 || size > kMostBursts / bursts) {
      throw InputError({"a level of a size that cannot be",
                        std::to_string(size),
                        "at least 1, and 64-bit addresses in all",
                        {}},
                       "levels");
    }
    bursts *= size;
  }
}

void ForeignTraceParser::feed(std::string_view block, std::vector<Access>& accesses) {
  lines_.feed(block, [&](std::string_view line) { parse(line, accesses); });
}

void ForeignTraceParser::finish(std::vector<Access>& accesses) {
  const std::string_view rest = lines_.rest();
  if (!rest.empty()) parse(rest, accesses);
  if (accesses_ == 0) {
    throw TraceError(
        {"the trace has no accesses", {}, std::string(kForms[static_cast<std::size_t>(form_)].line), {}},
        lines_.number());
  }
}

void ForeignTraceParser::parse(std::string_view line, std::vector<Access>& accesses) {
  words_ = words_of(line);
  if (words_.empty()) return;
  const FormInfo& form = kForms[static_cast<std::size_t>(form_)];
  if (words_.size() < form.fewest || words_.size() > form.most) {
    refuse("a line of " + counted(words_.size(), "column"), line, std::string(form.line));
  }
  Access access;
  switch (form_) {
    case ForeignForm::kDramsim3: parse_timed(words_, access); break;
    case ForeignForm::kRamulatorLoadStore:
      if (words_[0] != "LD" && words_[0] != "ST") refuse("bad kind", words_[0], "LD or ST");
      access.kind = words_[0] == "LD" ? AccessKind::kRead : AccessKind::kWrite;
      access.address = Address{address_of(words_[1])};
      break;
    case ForeignForm::kRamulatorReadWrite:
      if (words_[0] != "R" && words_[0] != "W") refuse("bad kind", words_[0], "R or W");
      access.kind = words_[0] == "R" ? AccessKind::kRead : AccessKind::kWrite;
      access.address = Address{address_at(words_[1])};
      break;
    case ForeignForm::kRamulatorSimpleO3: {
      constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
      // The load is an instruction too; a write-back is none.
      access.instruction_gap =
          static_cast<std::uint32_t>(decimal("number of instructions", words_[0], kMost - 1) + 1);
      access.address = Address{decimal("address", words_[1], kLargestAddress)};
      if (words_.size() == 3) {
        Access write_back;
        write_back.kind = AccessKind::kWrite;
        write_back.address = Address{decimal("address", words_[2], kLargestAddress)};
        accesses.push_back(access);
        access = write_back;
        ++accesses_;
      }
      break;
    }
  }
  accesses.push_back(access);
  ++accesses_;
}

void ForeignTraceParser::parse_timed(const std::vector<std::string_view>& words, Access& access) {
  access.address = Address{address_of(words[0])};
  if (!is_read(words[1]) && !is_write(words[1])) refuse("bad kind", words[1], "READ or WRITE");
  access.kind = is_read(words[1]) ? AccessKind::kRead : AccessKind::kWrite;
  const auto tick = static_cast<std::uint64_t>(tick_.ps());
  const std::uint64_t cycle = decimal("cycle", words[2], static_cast<std::uint64_t>(Time::max().ps()) / tick);
  access.timestamp = Time{static_cast<std::int64_t>(cycle * tick)};
  access.timed = true;
  if (access.timestamp < latest_) {
    refuse("bad cycle", words[2],
           "no less than the one before, " + std::to_string(static_cast<std::uint64_t>(latest_.ps()) / tick));
  }
  latest_ = access.timestamp;
}

// Hexadecimal with 0x; without it decimal for Ramulator and hexadecimal for DRAMsim3, as they read it.
std::uint64_t ForeignTraceParser::address_of(std::string_view word) const {
  std::uint64_t address = 0;
  const bool marked = is_hexadecimal(word);
  const int base = marked || form_ == ForeignForm::kDramsim3 ? 16 : 10;
  if (!parse_number(marked ? word.substr(2) : word, base, address))
    refuse("bad address", word, "an address of up to 64 bits, such as 0x1f40");
  return address;
}

// Coordinates number bursts of 64 bytes like digits of a number, the channel's the highest.
std::uint64_t ForeignTraceParser::address_at(std::string_view coordinates) const {
  std::uint64_t burst = 0;
  std::size_t level = 0;
  for (std::string_view rest = coordinates;; ++level) {
    const std::size_t comma = rest.find(',');
    if (level < levels_.size()) {
      const std::uint64_t digit = decimal("coordinate", rest.substr(0, comma), levels_[level] - 1);
      burst = burst * levels_[level] + digit;
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (level + 1 != levels_.size()) {
    refuse(counted(level + 1, "coordinate"), coordinates,
           std::to_string(levels_.size()) + ", one for each of the levels");
  }
  return burst * kBurst;
}

std::uint64_t ForeignTraceParser::decimal(std::string_view what, std::string_view word,
                                          std::uint64_t most) const {
  std::uint64_t number = 0;
  if (!parse_number(word, 10, number) || number > most)
    refuse("bad " + std::string(what), word, "an integer from 0 to " + std::to_string(most));
  return number;
}

void ForeignTraceParser::refuse(std::string problem, std::string_view text, std::string allowed) const {
  throw TraceError({std::move(problem), quoted(text), std::move(allowed), {}}, lines_.number());
}

}  // namespace cxloom
