// The two kinds of failure: the user's input is wrong (InputError), or the run cannot finish (SimulationError).
// A broken invariant is our own bug and raises InternalError with the state that a maintainer needs.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cxloom {

/// What a person wrote is wrong. Carries where (a path such as "devices.host.queue", grown from the inside out),
/// what was found and what is allowed; the front end adds file and line.
class InputError : public std::runtime_error {
 public:
  struct Detail {
    std::string problem;     ///< one clause: "unknown key 'queu'"
    std::string found;       ///< the offending text, may be empty
    std::string allowed;     ///< what would be right, may be empty
    std::string suggestion;  ///< the nearest valid name, may be empty
  };

  explicit InputError(Detail detail, std::string path = {})
      : std::runtime_error(compose(detail, path)), detail_(std::move(detail)), path_(std::move(path)) {}

  const Detail& detail() const { return detail_; }
  const std::string& path() const { return path_; }
  /// The same error seen from one level further out: `parent` is a key, or an index such as "[3]".
  InputError below(const std::string& parent) const;

 private:
  static std::string compose(const Detail& detail, const std::string& path);

  Detail detail_;
  std::string path_;
};

/// The simulation could not finish: a deadlock, a livelock or a limit that the user set. `what()` is the diagnosis.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken invariant: a bug of cxloom or of a plug-in.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError unless `condition` holds.
inline void ensure(bool condition, const char* what) {
  if (!condition) [[unlikely]]
    throw InternalError(what);
}

/// The candidate nearest to `name` by edit distance, else the shortest that it is a part of, else an empty string.
std::string nearest_name(const std::string& name, const std::vector<std::string>& candidates);

/// "a, b or c": candidates as a sentence lists them.
std::string list_names(const std::vector<std::string>& names);

}  // namespace cxloom
