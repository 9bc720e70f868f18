// Work as a graph of tasks, as a person describes it: the section `tasks` of a spec.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// Bytes of memory with a name and a place.
struct TaskObjectParams {
  std::string name;
  Bytes size;
  KindSpec addresses{"first-touch", Value(Value::Map{})};
  std::optional<std::string> host;

  static void describe(Schema<TaskObjectParams>& schema);
};

/// What computes: it need not be a device.
struct ProcessorParams {
  std::string name;
  double flops = 0;

  static void describe(Schema<ProcessorParams>& schema);
};

/// A part of an object that a kernel reads or writes.
struct TaskUseParams {
  std::string object;
  std::optional<Bytes> bytes;
  Bytes offset;

  static void describe(Schema<TaskUseParams>& schema);
};

enum class TaskKind : std::uint8_t { kCompute, kCopy, kKernel };
enum class KernelPattern : std::uint8_t { kSequential, kRandom };

struct TaskParams {
  std::string name;
  TaskKind kind = TaskKind::kCompute;
  std::optional<std::string> on;
  std::vector<std::string> after;
  std::uint32_t stream = 0;
  std::optional<double> flops;
  std::optional<Time> time;
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<Bytes> bytes;
  Bytes offset;
  std::optional<Bytes> from_offset;
  std::optional<Bytes> to_offset;
  std::vector<TaskUseParams> reads;
  std::vector<TaskUseParams> writes;
  KernelPattern pattern = KernelPattern::kSequential;
  std::uint32_t threads = 1;

  static void describe(Schema<TaskParams>& schema);
};

struct TasksParams {
  std::vector<TaskObjectParams> objects;
  std::vector<ProcessorParams> processors;
  std::vector<TaskParams> graph;
  std::optional<std::string> file;
  Bytes page{4096};
  bool exact = false;
  Time window{100'000'000};

  bool empty() const { return graph.empty() && objects.empty() && processors.empty() && !file; }
  static void describe(Schema<TasksParams>& schema);
};

}  // namespace cxloom
