// The links of a generated topology from Python: each is made when somebody asks for it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "interconnect/topology/generators.hpp"
#include "value_conversion.hpp"

namespace cxloom {

class GeneratedLinks {
 public:
  explicit GeneratedLinks(std::shared_ptr<const GeneratedTopology> topology)
      : topology_(std::move(topology)) {}

  std::size_t size() const { return topology_->link_count(); }
  /// A link as plain Python data. Names and keys are one object each, in whatever links they are.
  nanobind::object item(std::size_t index) { return maker_.make(topology_->link(index)); }
  /// All links.
  Value value() const {
    Value::List links;
    links.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) links.push_back(topology_->link(i));
    return links;
  }

 private:
  std::shared_ptr<const GeneratedTopology> topology_;
  PythonMaker maker_;
};

}  // namespace cxloom
