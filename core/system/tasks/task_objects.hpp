// The objects of a task graph, in the memory of a system.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "system/spec/spec.hpp"
#include "system/tasks/placed_object.hpp"
#include "system/work/program_nodes.hpp"

namespace cxloom {

struct Registry;
class System;

class TaskObjects {
 public:
  /// Places them in their order. Throws InputError with a path from `tasks` on.
  TaskObjects(const Registry& registry, const Spec& spec, const System& system);

  const std::vector<PlacedObject>& all() const { return objects_; }
  const PlacedObject& at(std::uint32_t number) const { return objects_[number]; }
  /// Its number; none: there is no such object.
  std::optional<std::uint32_t> find(const std::string& name) const;
  /// Their names, for messages.
  std::vector<std::string> names() const;
  /// Sentences on memory that is not there for objects which are to be in it.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Nodes that an object may be in.
  std::size_t nodes(std::uint32_t number) const { return views_.at(host_of_[number]).nodes.size(); }
  /// The memories of such a node, by its place.
  const std::vector<MemoryTargetInfo>& targets(std::uint32_t number, std::size_t node) const {
    return views_.at(host_of_[number]).nodes[node].targets;
  }

 private:
  /// Memory as a host sees it.
  struct View {
    std::vector<NumaNode> nodes;
    std::vector<ObjectNode*> frames = {};
    std::vector<bool> has_memory = {};
    std::vector<std::string> without = {};  ///< nodes of which it has nothing when the run begins
  };
  View& view_of(const std::string& host, Bytes page);
  /// The frames of a node, for the objects of all hosts that have it.
  ObjectNode& frames_of(const NumaNode& node, Bytes page);
  void place(const Registry& registry, const TaskObjectParams& params, Bytes page);

  const System& system_;
  ProgramNodes nodes_;
  std::string first_host_;
  std::map<std::string, View> views_;
  std::map<std::uint64_t, ObjectNode> frames_;  // by the address of a node's first frame
  std::uint64_t pages_ = 0;
  std::vector<PlacedObject> objects_;
  std::vector<std::string> host_of_;
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> notes_;  // each once
};

}  // namespace cxloom
