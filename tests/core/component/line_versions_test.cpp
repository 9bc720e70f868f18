#include "component/line_versions.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/random.hpp"
#include "kernel/divided_kernels.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {
namespace {

constexpr Time kWindow{100};
constexpr std::uint64_t kLines = 3;

/// Something that happens: to a message of the part that sent it, at its requester or at the memory, which is
/// in part 0.
struct Step {
  enum What : std::uint8_t { kLeaves, kServed, kReturns } what;
  Time at;
  std::size_t message;
};

/// Requesters in several parts that write and read the same lines. A message is served a window after it left
/// at least, and returns a window after that. Some writes come to memory once more, later, so that what
/// followed them is lost, and read as it was.
class Story {
 public:
  Story(std::uint64_t seed, std::size_t parts) : messages_(200), part_of_(messages_.size()) {
    RandomStream random(seed, "versions", "test");
    Time now;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      now += Time{static_cast<std::int64_t>(random.below(60))};
      part_of_[i] = random.below(parts);
      messages_[i].opcode = random.below(2) == 0 ? Opcode::kMemWr : Opcode::kMemRd;
      messages_[i].address = LineAddress{random.below(kLines)}.address();
      const auto further = [&] { return kWindow + Time{static_cast<std::int64_t>(random.below(400))}; };
      const Time served = now + further();
      steps_.push_back({Step::kLeaves, now, i});
      steps_.push_back({Step::kServed, served, i});
      steps_.push_back({Step::kReturns, served + further(), i});
      if (i % 3 == 0) steps_.push_back({Step::kServed, served + Time{1500}, i});
    }
  }

  const std::vector<Step>& steps() const { return steps_; }
  std::size_t part_of(const Step& step) const {
    return step.what == Step::kServed ? 0 : part_of_[step.message];
  }
  void happen(const Step& step, const Kernel& at, LineVersions& versions) {
    Message& message = messages_[step.message];
    const bool write = message.opcode == Opcode::kMemWr;
    switch (step.what) {
      case Step::kLeaves: versions.leaves(at, message); return;
      case Step::kReturns: versions.returns(at, message); return;
      default:
        if (write) versions.stored(at, message);
        else if (message.version == 0)
          message.version = versions.brought(at, LineAddress::of(message.address));
    }
  }

 private:
  std::vector<Message> messages_;
  std::vector<std::size_t> part_of_;
  std::vector<Step> steps_;
};

class Teller final : public EventHandler {
 public:
  Teller(Kernel& kernel, Story& story, LineVersions& versions)
      : kernel_(kernel), source_(kernel.new_source()), story_(story), versions_(versions) {}
  void expect(std::size_t step) { kernel_.schedule(story_.steps()[step].at, source_, *this, 0, step); }
  void wake(std::uint8_t /*kind*/, std::uint64_t step) override {
    story_.happen(story_.steps()[step], kernel_, versions_);
  }

 private:
  Kernel& kernel_;
  EventSource source_;
  Story& story_;
  LineVersions& versions_;
};

struct Known {
  std::uint64_t stale_reads;
  std::uint64_t lost_updates;
  std::uint64_t changes;
  std::vector<std::uint32_t> in_memory;
  auto operator<=>(const Known&) const = default;
};

Known known(const LineVersions& versions) {
  Known known{versions.measured().stale_reads, versions.measured().lost_updates, versions.changes(), {}};
  for (std::uint64_t line = 0; line < kLines; ++line)
    known.in_memory.push_back(versions.in_memory(LineAddress{line}));
  return known;
}

/// What is known at the end of each window.
std::vector<Known> in_one_queue(std::uint64_t seed, std::size_t parts) {
  Story story(seed, parts);
  Kernel kernel;
  LineVersions versions;
  std::deque<Teller> tellers;
  for (std::size_t part = 0; part < parts; ++part) tellers.emplace_back(kernel, story, versions);
  for (std::size_t i = 0; i < story.steps().size(); ++i) tellers[story.part_of(story.steps()[i])].expect(i);
  std::vector<Known> all;
  for (Time end = kWindow; !kernel.idle(); end += kWindow) {
    kernel.run(end - Time{1}, ~std::uint64_t{0});
    all.push_back(known(versions));
  }
  return all;
}

std::vector<Known> in_parts(std::uint64_t seed, std::size_t parts) {
  Story story(seed, parts);
  DividedKernels kernels(parts, 2, kWindow);
  std::vector<const Kernel*> all_parts;
  for (std::size_t part = 0; part < parts; ++part) all_parts.push_back(&kernels.part(part));
  LineVersions versions(all_parts);
  std::deque<Teller> tellers;
  for (std::size_t part = 0; part < parts; ++part) tellers.emplace_back(kernels.part(part), story, versions);
  for (std::size_t i = 0; i < story.steps().size(); ++i) tellers[story.part_of(story.steps()[i])].expect(i);
  std::vector<Known> all;
  std::size_t window = 0;
  for (Time end = kWindow; !kernels.idle(); end += kWindow) {
    if (++window % 4 == 0) {
      kernels.run_merged(end, ~std::uint64_t{0});
    } else {
      versions.go_side_by_side(true);
      kernels.run_side_by_side(end);
      versions.go_side_by_side(false);
      versions.gather();
      versions.tell();
    }
    all.push_back(known(versions));
  }
  return all;
}

TEST(LineVersions, PartsSideBySideKnowWhatOneQueueKnows) {
  std::uint64_t stale_reads = 0;
  std::uint64_t lost_updates = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Known> whole = in_one_queue(seed, 3);
    EXPECT_EQ(in_parts(seed, 3), whole) << seed;
    stale_reads += whole.back().stale_reads;
    lost_updates += whole.back().lost_updates;
  }
  EXPECT_GT(stale_reads, 100U);
  EXPECT_GT(lost_updates, 100U);
}

}  // namespace
}  // namespace cxloom
