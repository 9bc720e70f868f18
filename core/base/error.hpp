// The two kinds of failure: the user's input is wrong (InputError), or the run cannot finish
// (SimulationError). A broken invariant is our own bug and raises InternalError with the state that a
// maintainer needs.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cxloom {

/// What a person wrote is wrong. Carries where (a path such as "devices.host.queue", grown from the inside
/// out), what was found and what is allowed; the front end adds file and line.
class InputError : public std::runtime_error {
 public:
  /// What a mistake has to do with other keys than its own.
  enum class Kind : std::uint8_t {
    kAlone,     ///< nothing
    kBetween,   ///< the key is wrong beside another one
    kNoEffect,  ///< another one leaves the key without effect
  };
  struct Detail {
    std::string problem;     ///< one clause: "unknown key 'queu'"
    std::string found;       ///< the offending text, may be empty
    std::string allowed;     ///< what would be right, may be empty
    std::string suggestion;  ///< the nearest valid name, may be empty
    Kind kind = Kind::kAlone;
  };

  explicit InputError(Detail detail, std::string path = {});
  InputError(const InputError& other);
  InputError& operator=(const InputError& other);
  ~InputError() override;

  /// Several errors as one: the first of them, with the others behind it. There is at least one.
  static InputError joined(const std::vector<InputError>& errors);

  const Detail& detail() const { return detail_; }
  const std::string& path() const { return path_; }
  /// This one, and those that were found along with it.
  std::vector<InputError> all() const;
  /// This error seen from one level further out: `parent` is a key, or an index such as "[3]".
  InputError with_path(const std::string& parent) const;

 private:
  static std::string compose(const Detail& detail, const std::string& path);

  Detail detail_;
  std::string path_;
  std::vector<InputError> others_;  // without others of their own
};

/// Gathers errors, so that a person hears of all of them at once.
class ErrorList {
 public:
  /// Runs `action`, and keeps an InputError from it.
  template <class Action>
  void attempt(Action&& action) {
    try {
      std::forward<Action>(action)();
    } catch (const InputError& error) {
      add(error);
    }
  }
  void add(const InputError& error);
  bool empty() const { return errors_.empty(); }
  const std::vector<InputError>& errors() const { return errors_; }
  /// Throws all of them as one, if there are any.
  void raise() const {
    if (!errors_.empty()) throw InputError::joined(errors_);
  }

 private:
  std::vector<InputError> errors_;
};

/// The simulation could not finish: a deadlock, a livelock or a limit that the user set. `what()` is the
/// diagnosis.
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

/// The candidate nearest to `name` by edit distance, else the shortest that it is a part of, else an empty
/// string.
std::string nearest_name(const std::string& name, const std::vector<std::string>& candidates);

/// Runs `action`; an InputError from it gets `parent` in front of its path.
template <class Action>
auto with_path(const std::string& parent, Action action) {
  try {
    return action();
  } catch (const InputError& error) {
    throw error.with_path(parent);
  }
}

/// "1 link", "2 links", "3 accesses": a count of what a regular noun names.
std::string counted(std::uint64_t count, const std::string& noun);

/// The plural of a regular noun.
std::string plural(const std::string& noun);

/// "a, b or c": candidates as a sentence lists them.
std::string list_names(const std::vector<std::string>& names);

}  // namespace cxloom
