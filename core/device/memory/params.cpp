#include "device/memory/params.hpp"

#include "base/memory_estimate.hpp"
#include "base/schema.hpp"

namespace cxloom {

void DeviceLoadParams::describe(Schema<DeviceLoadParams>& schema) {
  constexpr const char* kSource =
      "CXL 3.x, QoS telemetry; what a device's load is, and the thresholds, are its maker's choice";
  schema.doc(
      "The load that a memory reports with each answer (DevLoad): light, optimal, moderate or severe.");
  schema.field("optimal", &DeviceLoadParams::optimal)
      .min(1)
      .doc(
          "Requests from which on the load is optimal, and no longer light: those that wait or are served "
          "when the answer leaves, of the memory or of the answer's logical device.")
      .source(kSource);
  schema.field("moderate", &DeviceLoadParams::moderate)
      .required()
      .min(1)
      .doc("Requests from which on the load is moderate; at least `optimal`.")
      .source(kSource);
  schema.field("severe", &DeviceLoadParams::severe)
      .required()
      .min(1)
      .doc("Requests from which on the load is severe; at least `moderate`.")
      .source(kSource);
  schema.rule("loads rise: optimal is at most moderate, and that at most severe",
              [](const DeviceLoadParams& load) {
                return load.optimal <= load.moderate && load.moderate <= load.severe;
              });
}

void MemoryControllerParams::estimate(const MemoryControllerParams& params, MemoryEstimate& memory) {
  memory.add_media("media", params.media);
}

void MemoryControllerParams::describe(Schema<MemoryControllerParams>& schema) {
  schema.doc("A memory controller and its media.");
  describe_in(schema);
}

void MemoryControllerParams::describe_in(Schema<MemoryControllerParams> schema) {
  schema.field("capacity", &MemoryControllerParams::capacity)
      .min(Bytes{4096})
      .default_text("that of the media if they have one (dram), otherwise " + to_text(kCapacity))
      .doc("Bytes of memory. Media of more bytes are used in part; media of fewer are refused.");
  schema.field("controller_time", &MemoryControllerParams::controller_time)
      .doc("Time that the controller works on each request, in a pipeline.")
      .source("ESF, Table III");
  schema.field("queue", &MemoryControllerParams::queue)
      .min(1)
      .default_text("unlimited")
      .doc(
          "Requests in the controller and the media at the same time; more wait in the port's receive "
          "buffer and hold their credits.");
  schema.field("read_buffer", &MemoryControllerParams::read_buffer)
      .min(1)
      .max(kLargestBuffer)
      .default_text("unlimited")
      .doc(
          "Reads in the controller and the media at the same time, apart from writes (`queue` counts "
          "both); more wait in the port's receive buffer and hold their credits.");
  schema.field("write_buffer", &MemoryControllerParams::write_buffer)
      .min(1)
      .max(kLargestBuffer)
      .default_text("unlimited")
      .doc(
          "Writes in the controller and the media at the same time, apart from reads. A write has its place "
          "until the media say that it is done.");
  schema.field("posted_writes", &MemoryControllerParams::posted_writes)
      .doc(
          "Whether a write is answered once the controller has it in `write_buffer`, and not only when the "
          "media say that it is done. A read of what is in the buffer is answered from there.");
  schema.rule(
      "queue counts reads and writes together, read_buffer and write_buffer apart: one or the other",
      [](const MemoryControllerParams& params) { return !params.queue || !params.apart(); }, "queue");
  schema.rule(
      "posted_writes need a write_buffer, in which they wait for the media",
      [](const MemoryControllerParams& params) { return !params.posted_writes || params.write_buffer; },
      "posted_writes");
  schema
      .choice("credit_release", &MemoryControllerParams::credit_release,
              {{"drain", CreditRelease::kDrain}, {"completion", CreditRelease::kCompletion}})
      .doc(
          "When a request's receive buffer is free and its link credit goes back: when the controller "
          "takes the request, or only when it is answered.")
      .source("CXL 3.x leaves it to the device; a 48-entry device of the second kind stays near 31 GB/s");
  schema.field("atomic_time", &MemoryControllerParams::atomic_time)
      .doc(
          "Time of an atomic operation in the controller, between the read of its bytes and the write. "
          "Other accesses to the line wait from the read on until the write is done.")
      .source("own choice: that of a cache");
  schema.field("media", &MemoryControllerParams::media).category("media").doc("What stores the bytes.");
}

// For plug-ins (include/cxloom/memory.hpp).
template SchemaField<MemoryControllerParams> add_field(SchemaFields&, std::string_view, std::size_t,
                                                       const MemoryControllerParams&);
template const SchemaFields& declared<MemoryControllerParams>();

}  // namespace cxloom
