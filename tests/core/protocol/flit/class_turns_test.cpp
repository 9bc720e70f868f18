// Nobody starves: one message of a class beside others that always wait. docs/model/flit.md derives the
// bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/protocol/flit/traffic.hpp"

namespace cxloom {
namespace {

using test::FlitTraffic;
using enum Channel;

constexpr std::array kModes{FlitMode::k68B, FlitMode::k256B, FlitMode::k256BLo, FlitMode::k256BPbr};
/// By direction of a wire, towards memory and from it.
const std::array<std::vector<Channel>, 2> kDirections{
    {{kM2SReq, kM2SRwD, kM2SBIRsp, kH2DReq, kH2DRsp, kH2DData},
     {kS2MNDR, kS2MDRS, kS2MBISnp, kD2HReq, kD2HRsp, kD2HData}}};

std::vector<Channel> classes_of(FlitMode mode, const std::vector<Channel>& direction) {
  std::vector<Channel> classes;
  std::ranges::copy_if(direction, std::back_inserter(classes),
                       [&](Channel channel) { return largest_count(mode, channel) > 0; });
  return classes;
}

/// Most messages of a class in a slot.
unsigned a_slot(FlitMode mode, Channel channel) {
  unsigned most = 0;
  for (const SlotType type : {SlotType::kHeader, SlotType::kGeneric, SlotType::kSecondHeader}) {
    for (const SlotFormat& format : slot_formats(mode, type)) {
      for (const SlotFormat::Part& part : format.parts)
        if (part.channel == channel) most = std::max<unsigned>(most, part.most);
    }
  }
  return most;
}

/// Flits in which the probe waits, at most: those of the data under way and of one slot of each neighbour
/// with the data of its messages, and the one that was full when the probe came. A probe that does not fill
/// its slot may have had such a slot less than sixteen flits ago; in 256B less than the part of thirteen that
/// is lacking, four fifths at most.
unsigned most_flits(FlitMode mode, Channel probe, const std::vector<Channel>& neighbours) {
  constexpr unsigned kDataUnderWay = 36;
  const unsigned patience = mode == FlitMode::k256B ? 11 : 16;
  unsigned slots = kDataUnderWay;
  for (const Channel other : neighbours) slots += 1 + (is_data_class(other) ? 4 * a_slot(mode, other) : 0);
  const unsigned flit = geometry(mode).generic_slots();
  return (slots + flit - 1) / flit + 1 + (a_slot(mode, probe) > 1 ? patience : 0);
}

/// The longest wait in flits of single messages of `probe` that come at random.
unsigned longest_wait(FlitMode mode, Channel probe, const std::vector<Channel>& neighbours, unsigned one_in,
                      bool credits) {
  FlitTraffic traffic({.mode = mode});
  RandomStream random(1, "probe", "arrivals");
  unsigned longest = 0;
  unsigned waits = 0;
  std::uint32_t mask = ~0U;
  for (unsigned i = 0; i < 500; ++i) {
    for (const Channel other : neighbours) {
      while (traffic.waiting(other) < 30) traffic.add(other);
    }
    // Without a credit, a neighbour holds back for a while.
    if (credits && random.below(4) == 0) {
      mask =
          static_cast<std::uint32_t>(random.below(1U << kChannelCount)) | 1U << static_cast<unsigned>(probe);
    }
    if (traffic.waiting(probe) == 0 && random.below(one_in) == 0) {
      traffic.add(probe);
      waits = 0;
    }
    traffic.step(mask);
    if (traffic.waiting(probe) > 0) longest = std::max(longest, ++waits);
  }
  return longest;
}

TEST(ClassTurns, NobodyStarvesBesideSaturatingClasses) {
  for (const FlitMode mode : kModes) {
    for (const std::vector<Channel>& direction : kDirections) {
      const std::vector<Channel> classes = classes_of(mode, direction);
      for (const Channel probe : classes) {
        std::vector<std::vector<Channel>> all_neighbours;
        std::vector<Channel> others;
        for (const Channel other : classes) {
          if (other == probe) continue;
          all_neighbours.push_back({other});
          others.push_back(other);
        }
        all_neighbours.push_back(others);
        for (const std::vector<Channel>& neighbours : all_neighbours) {
          for (const unsigned one_in : {1U, 20U}) {
            for (const bool credits : {false, true}) {
              EXPECT_LE(longest_wait(mode, probe, neighbours, one_in, credits),
                        most_flits(mode, probe, neighbours))
                  << kFlitModeNames[static_cast<std::size_t>(mode)] << " "
                  << kChannelNames[static_cast<std::size_t>(probe)] << " beside "
                  << kChannelNames[static_cast<std::size_t>(neighbours[0])]
                  << (neighbours.size() > 1 ? " and all others" : "") << ", one in " << one_in << " flits"
                  << (credits ? ", with credits" : "");
            }
          }
        }
      }
    }
  }
}

/// Mean wait in flits of the reads' requests, of `share` of all that come, where 192 wait.
double wait_of_requests(FlitMode mode, double share) {
  FlitTraffic traffic({.mode = mode});
  RandomStream random(3, "reads", "writes");
  std::deque<unsigned> since;
  double sum = 0;
  unsigned sent = 0;
  for (unsigned i = 0; i < 2500; ++i) {
    while (traffic.waiting(kM2SReq) + traffic.waiting(kM2SRwD) < 192) {
      const bool read = random.below(1000) < static_cast<std::uint64_t>(share * 1000);
      traffic.add(read ? kM2SReq : kM2SRwD);
      if (read) since.push_back(i);
    }
    const Flit& flit = traffic.step();
    for (unsigned k = 0; k < flit.message_count; ++k) {
      if (flit.message[k].channel != kM2SReq) continue;
      if (i > 500) {
        sum += i - since.front();
        ++sent;
      }
      since.pop_front();
    }
  }
  return sum / sent;
}

TEST(ClassTurns, ReadsAmongWritesWaitForOneWriteWhateverTheirShare) {
  // Reads have a fifth of the slots of writes. Up to five reads a write, they want less than their half of
  // the wire, and each waits for the data under way and one write: 8 slots at most. Two that come in one flit
  // wait for one another.
  for (const FlitMode mode : kModes) {
    const double slots = geometry(mode).slots;
    for (const double share : {0.01, 0.02, 0.04, 0.08, 0.12, 0.2, 0.3, 0.4, 0.5}) {
      EXPECT_LE(wait_of_requests(mode, share), 8 / slots)
          << kFlitModeNames[static_cast<std::size_t>(mode)] << ", reads " << share;
    }
  }
}

/// Mean wait in flits of completions that come at random among reads' data that always wait.
double wait_of_completions(FlitMode mode, double share) {
  FlitTraffic traffic({.mode = mode});
  RandomStream random(3, "data", "completions");
  std::deque<unsigned> since;
  double sum = 0;
  unsigned sent = 0;
  for (unsigned i = 0; sent < 1500; ++i) {
    while (traffic.waiting(kS2MDRS) + traffic.waiting(kS2MNDR) < 192) {
      const bool completion = random.below(1000) < static_cast<std::uint64_t>(share * 1000);
      traffic.add(completion ? kS2MNDR : kS2MDRS);
      if (completion) since.push_back(i);
    }
    const Flit& flit = traffic.step();
    for (unsigned k = 0; k < flit.message_count; ++k) {
      if (flit.message[k].channel != kS2MNDR) continue;
      sum += i - since.front();
      ++sent;
      since.pop_front();
    }
  }
  return sum / sent;
}

TEST(ClassTurns, CompletionsAmongDataWaitForCompanyButNotForLong) {
  // 256B: docs/model/flit.md has 13 / 12 + 1 / 2 flits where twice as many come as may go alone, which is at
  // 94 % reads, and less elsewhere. The others have slots in which no data header may go.
  for (const double share : {0.3, 0.2, 0.16, 0.12, 0.1, 0.08, 0.06, 0.04, 0.02, 0.01}) {
    EXPECT_LE(wait_of_completions(FlitMode::k256B, share), 1.8) << "writes " << share;
    EXPECT_LE(wait_of_completions(FlitMode::k256BLo, share), 2.1) << "writes " << share;
    EXPECT_LE(wait_of_completions(FlitMode::k256BPbr, share), 1.5) << "writes " << share;
    EXPECT_LE(wait_of_completions(FlitMode::k68B, share), 6) << "writes " << share;  // of 68 B
  }
}

}  // namespace
}  // namespace cxloom
