// The kinds of one sort of thing, whatever it is: name, declared parameters, factory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/measure.hpp"
#include "base/parameters.hpp"
#include "base/schema_info.hpp"

namespace cxloom {

class MemoryEstimate;

/// Adds what one thing of a kind is itself, without what it holds.
void estimate_itself(MemoryEstimate& memory, std::size_t bytes);

/// What a KindRegistry is without its types, so that the compiler makes it once and not for each sort of
/// kinds.
class KindList {
 public:
  struct Entry {
    std::string kind;
    SchemaInfo info;
    std::vector<MeasureInfo> measures;  ///< what it reports
    /// Makes a Product, which the caller owns, in a Context, with the factory that was added, if one was.
    void* (*make)(const void* factory, const Value& params, void* context) = nullptr;
    std::shared_ptr<const void> factory;
    /// What one with these parameters takes of the machine's memory; may be empty.
    void (*estimate)(const Value& params, MemoryEstimate& memory) = nullptr;
    void (*check)(const Value& params) = nullptr;  ///< throws InputError for all that is wrong with them
    std::string plugin;                            ///< the library that registered it; empty if none did
    std::vector<std::string> traits;               ///< words that tools go by (docs/explain.md)
  };

  explicit KindList(std::string noun);
  KindList(const KindList& other);
  KindList& operator=(const KindList& other);
  ~KindList();

  const Entry* find(const std::string& kind) const;
  /// The entry of `kind`; throws InputError with the nearest name if there is none.
  const Entry& at(const std::string& kind) const;
  /// The error for a kind that there is not; `path` is where it was named.
  InputError unknown(const std::string& kind, const std::string& path) const;

  /// A plug-in is being loaded: what is added from now on is of this library.
  void extend_by(const std::string& library);
  /// What one of its kinds is, as in "unknown media kind".
  const std::string& noun() const { return noun_; }

  std::vector<std::string> names() const;
  /// In order of registration.
  const std::vector<Entry>& entries() const { return entries_; }

 protected:
  /// A new entry. Throws InputError for a kind that exists already.
  Entry& declare(const std::string& kind, const SchemaInfo& info);

 private:
  std::string noun_;
  std::vector<Entry> entries_;
  bool extended_ = false;  // by a plug-in
  std::string library_;    // whose entries are being added
};

}  // namespace cxloom
