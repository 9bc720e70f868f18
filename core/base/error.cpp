#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <string_view>
#include <utility>

namespace cxloom {

InputError::InputError(Detail detail, std::string path)
    : std::runtime_error(compose(detail, path)), detail_(std::move(detail)), path_(std::move(path)) {}
InputError::InputError(const InputError& other) = default;
InputError& InputError::operator=(const InputError& other) = default;
InputError::~InputError() = default;

InputError InputError::joined(const std::vector<InputError>& errors) {
  InputError first = errors.front();
  for (std::size_t i = 1; i < errors.size(); ++i) {
    const std::vector<InputError> more = errors[i].all();
    first.others_.insert(first.others_.end(), more.begin(), more.end());
  }
  return first;
}

std::vector<InputError> InputError::all() const {
  std::vector<InputError> errors{InputError(detail_, path_)};
  errors.insert(errors.end(), others_.begin(), others_.end());
  return errors;
}

InputError InputError::with_path(const std::string& parent) const {
  const bool index = !path_.empty() && path_.front() == '[';
  InputError error(detail_, path_.empty() ? parent : parent + (index ? "" : ".") + path_);
  for (const InputError& other : others_) error.others_.push_back(other.with_path(parent));
  return error;
}

void ErrorList::add(const InputError& error) {
  const std::vector<InputError> found = error.all();
  errors_.insert(errors_.end(), found.begin(), found.end());
}

std::string InputError::compose(const Detail& detail, const std::string& path) {
  std::string text = path.empty() ? detail.problem : path + ": " + detail.problem;
  if (!detail.found.empty()) text += ", found " + detail.found;
  if (!detail.allowed.empty()) text += "; allowed: " + detail.allowed;
  if (!detail.suggestion.empty()) text += "; did you mean '" + detail.suggestion + "'?";
  return text;
}

namespace {

// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

namespace {

/// Words that people bring from elsewhere, and ours for them: policies of memory as Linux and numactl name
/// them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kOtherWords{{
    {"membind", "bind"},
    {"strict", "bind"},
    {"local", "preferred"},
    {"localalloc", "preferred"},
    {"default", "preferred"},
    {"preferred-many", "preferred"},
    {"prefer", "preferred"},
    {"interleave-all", "interleave"},
    {"weighted", "interleave"},
    {"weighted-interleave", "interleave"},
    {"round-robin", "interleave"},
    {"mbind", "ranges"},
    {"physical", "as-is"},
    {"none", "as-is"},
}};

/// "MPOL_WEIGHTED_INTERLEAVE" is "weighted-interleave".
std::string our_word(const std::string& theirs) {
  std::string word;
  for (const char each : theirs)
    word += each == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  if (word.starts_with("mpol-")) word.erase(0, 5);
  const auto found = std::ranges::find(kOtherWords, word, [](const auto& pair) { return pair.first; });
  return found == kOtherWords.end() ? word : std::string(found->second);
}

}  // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestCompared = 256;  // names are no longer; comparing takes the square of it
  if (name.size() > kLongestCompared) return {};
  if (std::string ours = our_word(name); std::ranges::find(candidates, ours) != candidates.end()) return ours;
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty() || name.size() < 3) return best;
  for (const std::string& candidate : candidates) {  // a part of a name: optane for optane-dcpmm
    const bool holds = candidate.find(name) != std::string::npos;
    if (holds && (best.empty() || candidate.size() < best.size())) best = candidate;
  }
  return best;
}

std::string counted(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + (count == 1 ? noun : plural(noun));
}

std::string plural(const std::string& noun) {
  if (std::ranges::any_of(std::array{"s", "x", "ch", "sh"},
                          [&](const char* end) { return noun.ends_with(end); })) {
    return noun + "es";
  }
  constexpr std::string_view kVowels = "aeiou";
  const bool ends_in_y = noun.size() > 1 && noun.back() == 'y';
  if (ends_in_y && kVowels.find(noun[noun.size() - 2]) == std::string_view::npos)
    return noun.substr(0, noun.size() - 1) + "ies";
  return noun + "s";
}

std::string list_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace cxloom
