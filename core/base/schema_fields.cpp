#include "base/schema_fields.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace cxloom {

namespace {

void* member_of(void* params, const SchemaFields::Entry& entry) {
  return static_cast<std::byte*>(params) + entry.place;
}

const void* member_of(const void* params, const SchemaFields::Entry& entry) {
  return static_cast<const std::byte*>(params) + entry.place;
}

bool holds(const SchemaFields::Condition& condition, const void* params) {
  return condition.holds(static_cast<const std::byte*>(params) + condition.place);
}

void read_entry(const SchemaFields::Entry& entry, const Value& value, void* member) {
  if (entry.set) entry.set(entry.numbers[choice_of(value, entry.info.choices)], member);
  else entry.read(value, member);
}

/// Refuses a value that is no map. Gives each declared key to `read`, by the index of its field, unless its
/// value is null, which is as if it were not there. Adds to `errors` what that throws, the keys that are not
/// declared (with the nearest name), and the required ones that are missing.
void read_map(const Value& value, const std::vector<FieldInfo>& fields,
              const std::function<void(std::size_t field, const Value& value)>& read, ErrorList& errors) {
  const Value::Map* map = value.as_map();
  if (!map && !value.is_null())
    throw InputError({"not a map of parameters", value.described(), "key: value pairs", {}});
  std::vector<std::string> names;
  for (const FieldInfo& field : fields) names.push_back(field.name);
  std::vector<bool> given(fields.size(), false);
  for (const auto& [key, item] : map ? *map : Value::Map{}) {
    const auto found = std::find(names.begin(), names.end(), key);
    if (found == names.end()) {
      const std::string allowed = names.empty() ? "no parameters here" : list_names(names);
      errors.add(InputError({"unknown key '" + key + "'", {}, allowed, nearest_name(key, names)}, key));
      continue;
    }
    const auto index = static_cast<std::size_t>(found - names.begin());
    given[index] = true;
    if (item.is_null()) {
      if (fields[index].required)
        errors.add(InputError({"'" + key + "' is missing", "null", "a value: it has no default", {}}, key));
      continue;
    }
    try {
      read(index, item);
    } catch (const InputError& error) {
      errors.add(error.with_path(key));
    }
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].required && !given[i]) {
      errors.add(InputError({"'" + fields[i].name + "' is missing", {}, "", {}}));
    }
  }
}

/// Whether a value is the default in words, as it is shown: `unlimited`, or `none` of "none: all of it is
/// everybody's".
bool says_default(const FieldInfo& field, const Value& value) {
  const std::string* text = value.as_text();
  const std::string& words = field.default_text;
  return text && !words.empty() && (*text == words || *text == words.substr(0, words.find(": ")));
}

/// A number from 2 on as the percentage that somebody may have meant: 70 as "70%". Empty if it is none.
std::string percentage_meant(const FieldInfo& field, const Value& value) {
  constexpr double kLeast = 2.0;
  constexpr double kWhole = 100.0;
  if (field.type != "fraction") return {};
  const std::int64_t* const integer = value.as_integer();
  const double* const real = value.as_real();
  const double number = integer ? static_cast<double>(*integer) : real ? *real : 0.0;
  return number >= kLeast && number <= kWhole ? value.described() + "%" : std::string{};
}

/// The error for a value outside its bounds; `written` is null where it was set from C++.
InputError out_of_bounds(const FieldInfo& field, const Value* written, const std::string& found,
                         const std::string& allowed) {
  const std::string* text = written ? written->as_text() : nullptr;
  return InputError({.problem = "out of bounds",
                     .found = text ? *text : found,
                     .allowed = allowed,
                     .suggestion = written ? percentage_meant(field, *written) : std::string{}},
                    field.name);
}

}  // namespace

InputError without_effect(const std::string& key, const std::string& unless) {
  const std::string name = key.substr(key.rfind('.') + 1);
  return InputError({name + " has no effect " + unless, {}, {}, {}, InputError::Kind::kNoEffect}, key);
}

void set_text(std::string& text, std::string_view to) { text = to; }

void require(FieldInfo& info) {
  info.required = true;
  info.default_text.clear();
}

std::shared_ptr<const SchemaInfo> shared_info(const SchemaInfo& info) {
  return std::make_shared<const SchemaInfo>(info);
}

void add_check(SchemaFields::Entry& entry, bool (*holds)(const void* member, const void* bound),
               std::shared_ptr<const void> bound, std::string_view allowed) {
  entry.checks.push_back({holds, std::move(bound), std::string(allowed)});
}

std::size_t choice_of(const Value& value, const std::vector<std::string>& names) {
  const std::string* text = value.as_text();
  const auto found = text ? std::find(names.begin(), names.end(), *text) : names.end();
  if (found == names.end()) {
    throw InputError(
        {"unknown choice", value.described(), list_names(names), text ? nearest_name(*text, names) : ""});
  }
  return static_cast<std::size_t>(found - names.begin());
}

SchemaFields::SchemaFields(const void* initial, void (*describe)(SchemaFields& fields)) : initial_(initial) {
  describe(*this);
  for (const Entry& entry : entries_) info_.fields.push_back(entry.info);
}
SchemaFields::~SchemaFields() = default;

void SchemaFields::doc(std::string_view text) { info_.doc = text; }

void SchemaFields::short_for(std::string_view key) { info_.short_for = key; }

SchemaFields::Entry& SchemaFields::add(std::string_view name, std::size_t place) {
  Entry& entry = entries_.emplace_back();
  entry.info.name = name;
  entry.place = place;
  return entry;
}

SchemaFields::Entry& SchemaFields::add_choice(std::string_view name, std::size_t place,
                                              const NamedValues& choices, std::uint64_t initial,
                                              void (*set)(std::uint64_t number, void* member)) {
  Entry& entry = add(name, place);
  entry.info.type = "choice";
  entry.set = set;
  for (const auto& [text, number] : choices) {
    entry.info.choices.push_back(text);
    entry.numbers.push_back(number);
    if (number == initial) entry.info.default_text = text;
  }
  return entry;
}

void SchemaFields::rule(std::string_view problem, Condition condition, std::string_view key) {
  rules_.push_back({std::string(problem), condition, std::string(key)});
}

void SchemaFields::effective(std::string_view key, Condition condition, std::string_view unless) {
  const auto entry = std::ranges::find(entries_, key, [](const Entry& each) { return each.info.name; });
  ensure(entry != entries_.end(), "an effect of a parameter that is not declared");
  effects_.push_back({static_cast<std::size_t>(entry - entries_.begin()), condition, std::string(unless)});
}

void SchemaFields::read(const Value& value, const Value& written, void* params) const {
  if (!info_.short_for.empty() && !value.as_map() && !value.is_null()) {
    if (!value.as_text())
      throw InputError({"neither a text nor a map",
                        value.described(),
                        "the value of '" + info_.short_for + "', or key: value pairs",
                        {}});
    const Value whole = Value::Map{{info_.short_for, value}};
    return read(whole, whole, params);
  }
  ErrorList errors;
  std::vector<const Value*> items(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    items[i] = written.find(entries_[i].info.name);
    if (items[i] && items[i]->is_null()) items[i] = nullptr;
  }
  std::vector<bool> unread(entries_.size());  // what is there instead need not be within bounds
  for (std::size_t i = 0; i < entries_.size(); ++i) unread[i] = entries_[i].info.required;
  const auto read_one = [&](std::size_t i, const Value& item) {
    unread[i] = true;
    if (!says_default(entries_[i].info, item)) read_entry(entries_[i], item, member_of(params, entries_[i]));
    unread[i] = false;
  };
  read_map(value, info_.fields, read_one, errors);
  check_bounds(params, unread, items, errors);
  errors.raise();
  check_rules(params, errors);
  std::vector<bool> given(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) given[i] = items[i] != nullptr;
  check_effects(params, given, errors);
  errors.raise();
}

void SchemaFields::check(const void* params) const {
  ErrorList errors;
  check_bounds(params, std::vector<bool>(entries_.size()), std::vector<const Value*>(entries_.size()),
               errors);
  check_rules(params, errors);
  std::vector<bool> changed;
  for (const Entry& entry : entries_)
    changed.push_back(entry.differs(member_of(params, entry), member_of(initial_, entry)));
  check_effects(params, changed, errors);
  errors.raise();
}

void SchemaFields::check_bounds(const void* params, const std::vector<bool>& unread,
                                const std::vector<const Value*>& written, ErrorList& errors) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (unread[i]) continue;
    const void* const member = member_of(params, entries_[i]);
    const std::vector<Check>& checks = entries_[i].checks;
    const auto broken = std::ranges::find_if(
        checks, [&](const Check& check) { return !check.holds(member, check.bound.get()); });
    if (broken != checks.end())
      errors.add(out_of_bounds(entries_[i].info, written[i], entries_[i].text(member), broken->allowed));
  }
}

void SchemaFields::check_rules(const void* params, ErrorList& errors) const {
  for (const Rule& rule : rules_) {
    if (!holds(rule.condition, params))
      errors.add(InputError({rule.problem, {}, {}, {}, InputError::Kind::kBetween}, rule.key));
  }
}

void SchemaFields::check_effects(const void* params, const std::vector<bool>& written,
                                 ErrorList& errors) const {
  for (const Effect& effect : effects_) {
    if (written[effect.entry] && !holds(effect.condition, params))
      errors.add(without_effect(entries_[effect.entry].info.name, effect.unless));
  }
}

}  // namespace cxloom
