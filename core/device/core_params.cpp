#include "device/core_params.hpp"

#include "base/schema.hpp"

namespace cxloom {

void CoreParams::describe(Schema<CoreParams>& schema) {
  schema.doc(
      "Out-of-order cores, one for each thread of the workload: accesses are made as far ahead as the "
      "reorder "
      "window reaches.");
  schema.field("clock", &CoreParams::clock)
      .where([](const Frequency& value) { return !value.rate.unlimited(); }, "a frequency")
      .doc("Cycles a second.")
      .source("own choice");
  schema.field("width", &CoreParams::width)
      .min(1)
      .max(64)
      .doc("Instructions a cycle that retire at most, so that as many may follow them into the window.")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: Golden Cove allocates 6");
  schema.field("cycles_per_instruction", &CoreParams::cycles_per_instruction)
      .min(0.001)
      .max(1000.0)
      .doc(
          "Cycles an instruction takes while nothing waits for memory, of accesses for which the trace does "
          "not "
          "say how many cycles lie before them. Not less than 1 / `width`.")
      .source("own choice; a trace recorded with a core has the cycles");
  schema.rule(
      "fewer cycles than instructions that retire take",
      [](const CoreParams& params) { return params.cycles_per_instruction * params.width >= 0.999; },
      "cycles_per_instruction");
  schema.field("window", &CoreParams::window)
      .min(1)
      .max(1U << 20U)
      .doc("Instructions of a thread that are begun and not retired at most (the reorder buffer).")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: Golden Cove has 512");
  schema.field("mshrs", &CoreParams::mshrs)
      .min(1)
      .max(1U << 20U)
      .doc("Lines that a core waits for at the same time at most; write-backs take none.")
      .source(
          "Intel 64 and IA-32 Architectures Optimization Reference Manual: the second level of Golden Cove "
          "has "
          "48");
  schema.field("store_buffer", &CoreParams::store_buffer)
      .min(1)
      .max(1U << 20U)
      .doc("Stores of a core that wait for their lines at most; they leave in order.")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: Golden Cove has 112");
}

}  // namespace cxloom
