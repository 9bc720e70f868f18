// Declarations of parameters, without their C++ types.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace cxloom {

struct SchemaInfo;

/// The declaration of one parameter, without its C++ type.
struct FieldInfo {
  std::string name;
  std::string type;  ///< time, bytes, bandwidth, frequency, fraction, integer, real, boolean, text, file,
                     ///< address, choice, map (see `fields`), kind (see `category`), list (see `item`), any
  std::string doc;
  std::string source;        ///< spec section or table the default comes from, may be empty
  std::string default_text;  ///< as a person would write it; empty if there is none
  std::string minimum;       ///< inclusive, empty if none
  std::string maximum;       ///< inclusive, empty if none
  std::vector<std::string> choices;
  std::string category;  ///< for type kind: the registry that lists the kinds; for type any: the section that
                         ///< it is like
  std::string item;      ///< for type list: the type of its items
  std::string
      short_for;  ///< for maps and lists of them: the key whose value may be written in place of a map
  bool required = false;
  std::shared_ptr<const SchemaInfo> fields;  ///< for type map
};

/// The declaration of a set of parameters.
struct SchemaInfo {
  std::string doc;
  std::string short_for;  ///< the key whose value, a text, may be written in place of the set; empty: none
  std::vector<FieldInfo> fields;
};

}  // namespace cxloom
