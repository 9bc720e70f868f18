// Messages staged for the next flits: lines in the order of their messages, what a packer is told of them,
// and what can still be taken back.
#include "interconnect/wire/flit_staging.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/support/link_bench.hpp"

namespace cxloom {
namespace {

using test::Messages;

TEST(FlitStaging, LinesComeInTheOrderOfTheirMessages) {
  Messages messages;
  FlitStaging staging(FlitMode::k256B);
  Message& four = messages.make(Opcode::kMemWr, 256);
  Message& one = messages.make(Opcode::kMemWr, 64);
  Message& read = messages.make(Opcode::kMemRd, 64);
  for (Message* message : {&four, &one, &read}) staging.add(*message);
  EXPECT_EQ(staging.lines(), 6U);
  EXPECT_EQ(staging.lines(Channel::kM2SRwD), 5U);
  EXPECT_EQ(staging.offer().count(Channel::kM2SRwD), 5U);
  EXPECT_EQ(staging.offer().count(Channel::kM2SReq), 1U);
  for (int i = 0; i < 5; ++i) {
    const FlitStaging::Line line = staging.take(Channel::kM2SRwD);
    EXPECT_EQ(line.message, i < 4 ? &four : &one);
    EXPECT_EQ(line.first, i == 0 || i == 4);
    EXPECT_EQ(line.last, i >= 3);
  }
  EXPECT_EQ(staging.lines(), 1U);
  EXPECT_EQ(staging.offer().count(Channel::kM2SRwD), 0U);
  EXPECT_EQ(staging.take(Channel::kM2SReq).message, &read);
  EXPECT_TRUE(staging.offer().empty());
}

TEST(FlitStaging, ByteEnablesAreThoseOfTheLinesThatMayGoNext) {
  Messages messages;
  FlitStaging staging(FlitMode::k256B);
  // Lines 0 to 7: whole, whole, partial (of 100 B), whole ... and a partial one behind those that a packer
  // looks at.
  for (const std::uint16_t size : std::array<std::uint16_t, 4>{64, 100, 256, 64})
    staging.add(messages.make(Opcode::kMemWr, size));
  staging.add(messages.make(Opcode::kMemWr, 8));
  const auto partial = [&] {
    std::vector<std::size_t> which;
    for (std::size_t k = 0; k < Offer::kMostWithData; ++k) {
      if (staging.offer().data(Channel::kM2SRwD, k).trailer) which.push_back(k);
    }
    return which;
  };
  EXPECT_EQ(partial(), std::vector<std::size_t>{2});
  staging.take(Channel::kM2SRwD);
  EXPECT_EQ(partial(), (std::vector<std::size_t>{1, 7}));
  for (int i = 0; i < 7; ++i) staging.take(Channel::kM2SRwD);
  EXPECT_EQ(partial(), std::vector<std::size_t>{0});
  staging.take(Channel::kM2SRwD);
  EXPECT_EQ(partial(), std::vector<std::size_t>{});
}

TEST(FlitStaging, OnlyWhatHasNotBegunIsTakenBack) {
  Messages messages;
  FlitStaging staging(FlitMode::k256B);
  std::vector<Message*> sent;
  for (int i = 0; i < 3; ++i) staging.add(*sent.emplace_back(&messages.make(Opcode::kMemWr, 128)));
  staging.add(messages.make(Opcode::kMemRd));
  staging.take(Channel::kM2SRwD);
  std::vector<Message*> gone;
  staging.remove_untouched(Channel::kM2SRwD, [&](Message& message) { gone.push_back(&message); });
  EXPECT_EQ(gone, (std::vector<Message*>{sent[1], sent[2]}));
  EXPECT_EQ(staging.lines(Channel::kM2SRwD), 1U);
  EXPECT_EQ(staging.lines(), 2U);
  EXPECT_EQ(staging.offer().count(Channel::kM2SRwD), 1U);
  const FlitStaging::Line rest = staging.take(Channel::kM2SRwD);
  EXPECT_EQ(rest.message, sent[0]);
  EXPECT_FALSE(rest.first);
  EXPECT_TRUE(rest.last);

  // All of a class of which nothing has begun; what comes later starts anew.
  staging.add(*sent[1]);
  staging.remove_untouched(Channel::kM2SRwD, [&](Message& message) { gone.push_back(&message); });
  EXPECT_EQ(gone.size(), 3U);
  EXPECT_EQ(staging.lines(), 1U);
  staging.add(*sent[2]);
  EXPECT_TRUE(staging.take(Channel::kM2SRwD).first);
}

TEST(FlitStaging, MessagesOfIoAreKeptApartAndCountedInBytes) {
  Messages messages;
  FlitStaging staging(FlitMode::k256B);
  Message& packet = messages.make(Opcode::kMWr, 208);
  Message& read = messages.make(Opcode::kMRd, 4096);  // without the data
  Message& answer = messages.make(Opcode::kCplD, 64);
  EXPECT_EQ(staging.io_bytes(), 0U);
  staging.add(packet);
  EXPECT_EQ(staging.io_bytes(), 16U + 208U);
  EXPECT_FALSE(staging.full(Channel::kIo));  // 236 B
  staging.add(read);
  EXPECT_EQ(staging.io_bytes(), 240U);
  EXPECT_TRUE(staging.full(Channel::kIo));
  staging.add(answer);
  EXPECT_EQ(staging.io_bytes(), 240U + 12U + 64U);
  EXPECT_EQ(staging.lines(), 0U);
  EXPECT_TRUE(staging.offer().empty());
  for (Message* message : {&packet, &read, &answer}) EXPECT_EQ(&staging.take_io(), message);
  EXPECT_TRUE(staging.io().empty());
  EXPECT_EQ(staging.io_bytes(), 0U);
}

TEST(FlitStaging, AClassIsFullWithWhatNoFlitCanTakeMoreOf) {
  Messages messages;
  FlitStaging staging(FlitMode::k256B);
  for (unsigned i = 0; i < Offer::kMost; ++i) {
    EXPECT_FALSE(staging.full(Channel::kS2MNDR)) << i;
    staging.add(messages.make(Opcode::kCmp));
  }
  EXPECT_TRUE(staging.full(Channel::kS2MNDR));
  EXPECT_FALSE(staging.full(Channel::kM2SReq));
}

}  // namespace
}  // namespace cxloom
