// A stand-in of SST's parameters of a component: texts by their names.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <sst/core/unitAlgebra.h>

// NOLINTBEGIN(readability-identifier-naming): the names are SST's.
namespace SST {

class Params {
 public:
  void insert(const std::string& key, const std::string& value) { values_[key] = value; }
  template <typename Type>
  Type find(const std::string& key, const Type& unset) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return unset;
    if constexpr (std::is_arithmetic_v<Type>) return static_cast<Type>(std::stoull(found->second));
    else return Type(found->second);
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace SST
// NOLINTEND(readability-identifier-naming)
