#include "device/memory/corrected_errors_params.hpp"

#include "base/schema.hpp"

namespace cxloom {

namespace {

constexpr auto kWholeLines = [](const Bytes& bytes) {
  return bytes.count() > 0 && bytes.count() % kLineBytes == 0;
};

}  // namespace

void FaultyPartParams::describe(Schema<FaultyPartParams>& schema) {
  schema.doc("A part of a memory in which errors occur that it corrects.");
  schema.field("base", &FaultyPartParams::base)
      .required()
      .where([](const Address& base) { return base.value() % kLineBytes == 0; }, "whole lines of 64 B")
      .doc("Where the part begins, in the memory's own addresses.");
  schema.field("size", &FaultyPartParams::size)
      .where(kWholeLines, "whole lines of 64 B")
      .doc("Bytes of the part: of a line, a row, a bank.")
      .source("a row of a rank of eight devices with pages of 1 KiB");
  schema.field("every", &FaultyPartParams::every)
      .required()
      .min(Time{1})
      .doc("The time between two errors of the part, mean.");
}

void CorrectedErrorsParams::describe(Schema<CorrectedErrorsParams>& schema) {
  schema.doc(
      "Errors that the memory corrects, and counts by part: a spare part takes the place of one with too "
      "many of them, as by a `spare` event.");
  schema.field("parts", &CorrectedErrorsParams::parts)
      .required()
      .where([](const auto& parts) { return !parts.empty(); }, "one part or more")
      .doc("The parts in which errors occur. All others have none.");
  schema.field("threshold", &CorrectedErrorsParams::threshold)
      .min(1)
      .doc("So many errors of a part make it suspicious: it is spared, if a spare part is left.")
      .source("mcelog: a page is given up after 10 corrected errors in 24 hours");
  schema
      .choice("times", &CorrectedErrorsParams::times,
              {{"random", ErrorTimes::kRandom}, {"even", ErrorTimes::kEven}})
      .doc(
          "When errors occur. random: independently of each other, so that times between them are "
          "exponential. even: each `every`, from the beginning of the run on.");
  schema.field("buffer", &CorrectedErrorsParams::buffer)
      .where(kWholeLines, "whole lines of 64 B")
      .doc("Bytes that the memory reads before it writes them, when it copies a part.")
      .source("own choice, as of `spare` events");
}

}  // namespace cxloom
