#include "system/spec/task_params.hpp"

#include <bit>

#include "base/schema.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

namespace {

constexpr std::uint32_t kMostStreams = 1024;

void describe_place(Schema<TaskParams>& schema) {
  schema.field("name", &TaskParams::name).required().doc("What others call it; no two have one name.");
  schema
      .choice("kind", &TaskParams::kind,
              {{"compute", TaskKind::kCompute}, {"copy", TaskKind::kCopy}, {"kernel", TaskKind::kKernel}})
      .required()
      .doc(
          "compute: a processor is busy for a time. copy: bytes of an object go to or from a device, by its "
          "DMA engine, or to another object, by a host. kernel: a host reads and writes objects.");
  schema.field("on", &TaskParams::on)
      .default_text("of a copy to or from a device, that device")
      .doc("Who does it: a processor, or the host of a kernel or of a copy between objects.");
  schema.field("after", &TaskParams::after)
      .default_text("none")
      .doc("Tasks that have to end before it starts.");
  schema.field("stream", &TaskParams::stream)
      .max(kMostStreams - 1)
      .doc(
          "Tasks of one stream of what does them run one after the other, in the order of the graph, as on a "
          "stream of CUDA: of a DMA engine one of its streams, of a host a set of threads, of a processor a "
          "part that computes beside the others at the full rate.");
}

void describe_amount(Schema<TaskParams>& schema) {
  schema.field("flops", &TaskParams::flops)
      .where([](double flops) { return flops >= 0; }, "0 or more")
      .default_text("none")
      .doc(
          "Floating-point operations, at the rate of the processor. Of a kernel: what its cores take at "
          "least.");
  schema.field("time", &TaskParams::time)
      .default_text("none")
      .doc("What it takes of the processor, or of a kernel's cores at least, as a time.");
  schema.field("from", &TaskParams::from).default_text("none").doc("Of a copy: an object, or a device.");
  schema.field("to", &TaskParams::to).default_text("none").doc("Of a copy: an object, or a device.");
  schema.field("bytes", &TaskParams::bytes)
      .min(Bytes{1})
      .default_text("to the end of the object")
      .doc("Of a copy: how many.");
  schema.field("offset", &TaskParams::offset).doc("Of a copy: where in its objects they begin.");
  schema.field("from_offset", &TaskParams::from_offset)
      .default_text("that of `offset`")
      .doc("Of a copy from an object: where in that one they begin.");
  schema.field("to_offset", &TaskParams::to_offset)
      .default_text("that of `offset`")
      .doc("Of a copy to an object: where in that one they begin.");
  schema.field("reads", &TaskParams::reads)
      .default_text("nothing")
      .doc("Of a kernel: parts of objects that it reads, in equal progress.");
  schema.field("writes", &TaskParams::writes)
      .default_text("nothing")
      .doc("Of a kernel: parts of objects that it writes, in equal progress with the reads.");
  schema
      .choice("pattern", &TaskParams::pattern,
              {{"sequential", KernelPattern::kSequential}, {"random", KernelPattern::kRandom}})
      .doc("Of a kernel: the order of the lines of each part; random ones are drawn from all of it.");
  schema.field("threads", &TaskParams::threads)
      .min(1U)
      .max(4096U)
      .doc(
          "Cores that a kernel, or a copy between objects, is divided among, each with a part of every "
          "range. More than one needs a host with `core`.");
}

}  // namespace

void TaskObjectParams::describe(Schema<TaskObjectParams>& schema) {
  schema.doc("An object: bytes of memory that tasks copy, read and write.");
  schema.field("name", &TaskObjectParams::name).required().doc("What tasks call it.");
  schema.field("size", &TaskObjectParams::size).required().min(Bytes{1}).doc("Bytes; it takes whole pages.");
  schema.field("addresses", &TaskObjectParams::addresses)
      .category("placements")
      .where([](const KindSpec& kind) { return kind.kind != "as-is" && kind.kind != "ranges"; },
             "bind, preferred, interleave, first-touch, or one of a plug-in: an object is all of one range")
      .doc("Which memories its pages are in: docs/model/placement.md. Objects are placed in their order.");
  schema.field("host", &TaskObjectParams::host)
      .default_text("the first device that makes requests")
      .doc("Whose memory it is in, and from where the nearest is the nearest.");
}

void ProcessorParams::describe(Schema<ProcessorParams>& schema) {
  schema.doc("A processor: it computes at a rate, and touches no memory of its own accord.");
  schema.field("name", &ProcessorParams::name).required().doc("What tasks call it.");
  schema.field("flops", &ProcessorParams::flops)
      .required()
      .where([](double flops) { return flops > 0; }, "more than 0")
      .doc("Floating-point operations per second that it reaches.");
}

void TaskUseParams::describe(Schema<TaskUseParams>& schema) {
  schema.doc("A part of an object.");
  schema.short_for("object");
  schema.field("object", &TaskUseParams::object).required().doc("Which one.");
  schema.field("bytes", &TaskUseParams::bytes)
      .min(Bytes{1})
      .default_text("to the end of the object")
      .doc("How many; where there are fewer it begins again at `offset`.");
  schema.field("offset", &TaskUseParams::offset).doc("Where in the object they begin.");
}

void TaskParams::describe(Schema<TaskParams>& schema) {
  schema.doc("A task.");
  describe_place(schema);
  describe_amount(schema);
  const auto is_copy = [](const TaskParams& task) { return task.kind == TaskKind::kCopy; };
  const auto is_kernel = [](const TaskParams& task) { return task.kind == TaskKind::kKernel; };
  for (const char* key : {"from", "to", "bytes", "offset", "from_offset", "to_offset"})
    schema.effective(key, is_copy, "unless kind is copy");
  for (const char* key : {"reads", "writes", "pattern"})
    schema.effective(key, is_kernel, "unless kind is kernel");
  for (const char* key : {"flops", "time"}) {
    schema.effective(
        key, [](const TaskParams& task) { return task.kind != TaskKind::kCopy; },
        "on a copy, which takes what its bytes take");
  }
  schema.effective(
      "threads", [](const TaskParams& task) { return task.kind != TaskKind::kCompute; },
      "on a processor: set stream");
  schema.rule(
      "flops and time are two ways to say one thing: leave one out",
      [](const TaskParams& task) { return !task.flops || !task.time; }, "time");
  schema.rule("a compute task needs flops or time", [](const TaskParams& task) {
    return task.kind != TaskKind::kCompute || task.flops || task.time;
  });
  schema.rule("a kernel needs an object that it reads or writes, or else it is a compute task",
              [](const TaskParams& task) {
                return task.kind != TaskKind::kKernel || !task.reads.empty() || !task.writes.empty();
              });
  schema.rule("a copy needs from and to",
              [](const TaskParams& task) { return task.kind != TaskKind::kCopy || (task.from && task.to); });
  schema.rule("`on` says who does it: a processor, or a host",
              [](const TaskParams& task) { return task.kind == TaskKind::kCopy || task.on; });
}

void TasksParams::describe(Schema<TasksParams>& schema) {
  schema.doc("A graph of compute, copies and kernels with dependences: docs/model/tasks.md.");
  schema.field("objects", &TasksParams::objects).default_text("none").doc("What is copied and accessed.");
  schema.field("processors", &TasksParams::processors).default_text("none").doc("What computes.");
  schema.field("graph", &TasksParams::graph).default_text("that of `file`").doc("The tasks.");
  schema.field("file", &TasksParams::file)
      .file()
      .default_text("none")
      .doc("A YAML file with a list of tasks, or JSON Lines with one on each, instead of `graph`.");
  schema.field("page", &TasksParams::page)
      .min(Bytes{4096})
      .where([](const Bytes& page) { return std::has_single_bit(page.count()); }, "a power of two")
      .doc("Pages in which objects are placed.");
  schema.field("exact", &TasksParams::exact)
      .doc(
          "Whether every line is simulated. Otherwise long transfers are: their beginnings, ends, and a "
          "window of each set of transfers that run together, whose rates hold for the lines between.");
  schema.field("window", &TasksParams::window)
      .min(Time{1'000'000})
      .doc("Simulated time of such a window.")
      .source("own choice: 25 intervals of refresh of DDR5");
  schema.rule(
      "graph and file are two ways to say one thing: leave one out",
      [](const TasksParams& tasks) { return tasks.graph.empty() || !tasks.file; }, "file");
  schema.effective(
      "window", [](const TasksParams& tasks) { return !tasks.exact; }, "where every line is simulated");
}

}  // namespace cxloom
