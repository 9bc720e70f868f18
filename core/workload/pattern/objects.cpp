#include "workload/pattern/objects.hpp"

#include <algorithm>
#include <bit>

#include "workload/pattern/copy.hpp"
#include "workload/stream/demand.hpp"

namespace cxloom {

namespace {

constexpr const char* kObjects = "objects";
constexpr std::uint64_t kAllAddresses = std::uint64_t{1} << 63U;  // half of them: no sum of two overflows

std::string object_at(std::size_t i) { return std::string(kObjects) + "[" + std::to_string(i) + "]"; }

/// The keys of the pattern of an object, which has its addresses and its mix.
Value keys_of(const ObjectParams& object, const ObjectRange& range) {
  Value::Map keys{{"base", to_text(range.base)}, {"footprint", to_text(range.size)}};
  if (object.reads != 1.0) keys.emplace_back("reads", object.reads);
  for (const auto& [key, item] : *object.pattern.params.as_map()) {
    if (key == "base" || key == "footprint" || key == "reads") {
      throw InputError({"the object says it",
                        key,
                        key == "reads" ? "reads of the object" : "size of the object, and base of all",
                        {}},
                       key);
    }
    keys.emplace_back(key, item);
  }
  return Value(std::move(keys));
}

}  // namespace

void ObjectParams::describe(Schema<ObjectParams>& schema) {
  schema.doc("An object of a program: what it has of the addresses, and how it is accessed.");
  schema.field("name", &ObjectParams::name)
      .required()
      .where([](const std::string& name) { return !name.empty(); }, "a name")
      .doc("What a placement and results call it.");
  schema.field("size", &ObjectParams::size).required().min(Bytes{64}).doc("Bytes of the object.");
  schema.field("accesses", &ObjectParams::accesses)
      .min(0.0)
      .doc(
          "Its part of all accesses: a share or a count, in proportion to the others. 0: it only has "
          "memory.");
  schema.field("pattern", &ObjectParams::pattern).category("patterns").doc("How its accesses go through it.");
  schema.field("reads", &ObjectParams::reads).fraction().doc("Share of reads among its accesses.");
}

void ObjectsParams::describe(Schema<ObjectsParams>& schema) {
  schema.doc(
      "A program with objects: each access is of one of them, by their parts, and where its pattern says.");
  schema.field("objects", &ObjectsParams::objects)
      .required()
      .where([](const auto& objects) { return !objects.empty(); }, "one object or more")
      .doc("The objects, in the order of their addresses.");
  schema.field("base", &ObjectsParams::base)
      .where([](const Address& base) { return base.value() % kLineBytes == 0; }, "a multiple of 64")
      .doc("First address of the first object.");
  schema.field("align", &ObjectsParams::align)
      .min(Bytes{kLineBytes})
      .where([](const Bytes& bytes) { return std::has_single_bit(bytes.count()); }, "a power of two")
      .doc("Each object begins at a multiple of it: at least a page, where objects are placed by name.");
  schema.rule(
      "the accesses of the objects sum to nothing",
      [](const ObjectsParams& params) {
        return params.objects.empty() ||
               std::ranges::any_of(params.objects, [](const auto& each) { return each.accesses > 0.0; });
      },
      kObjects);
  schema.rule(
      "two objects have one name",
      [](const ObjectsParams& params) {
        std::vector<std::string> names;
        for (const ObjectParams& each : params.objects) names.push_back(each.name);
        std::ranges::sort(names);
        return std::ranges::adjacent_find(names) == names.end();
      },
      kObjects);
}

std::vector<ObjectRange> ObjectsParams::laid_out() const {
  std::vector<ObjectRange> ranges;
  std::uint64_t at = base.value();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::uint64_t step = align.count();
    at = at > kAllAddresses ? at : (at + step - 1) / step * step;
    if (at > kAllAddresses || objects[i].size.count() > kAllAddresses - at) {
      throw InputError({"the objects are larger than all addresses",
                        to_text(objects[i].size) + " behind " + to_text(Address{at}),
                        "less than " + to_text(Bytes{kAllAddresses}) + " in all",
                        {}},
                       object_at(i) + ".size");
    }
    ranges.push_back({objects[i].name, Address{at}, objects[i].size});
    at += objects[i].size.count();
  }
  return ranges;
}

Objects::Objects(const Params& params, const PatternContext& context)
    : random_(context.seed, context.name, kObjects) {
  const std::vector<ObjectRange> ranges = params.laid_out();
  double sum = 0.0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const ObjectParams& object = params.objects[i];
    if (object.accesses == 0.0) continue;
    PatternContext own = context;
    own.name += "/" + object.name;
    Object& made = objects_.emplace_back();
    made.stream = with_path(object_at(i) + ".pattern", [&] {
      ensure(context.kinds != nullptr, "a pattern of objects is made where the kinds of patterns are known");
      return context.kinds->make({object.pattern.kind, keys_of(object, ranges[i])}, own);
    });
    if (made.stream->per_access() > 1 || made.stream->reactive()) {
      throw InputError({"an access of an object is one access, and this one is made as several",
                        "'" + object.pattern.kind + "' with " + counted(made.stream->per_access(), "line"),
                        "size: 4KiB or less",
                        {}},
                       object_at(i) + ".pattern");
    }
    made.until = sum += object.accesses;
  }
  range_ = {ranges.front().base,
            ranges.back().base.value() + ranges.back().size.count() - ranges.front().base.value()};
}

// It ends with the first of them.
std::uint64_t Objects::left_at_least() const {
  std::uint64_t least = kEndless;
  for (const Object& object : objects_) least = std::min(least, object.stream->left_at_least());
  return least;
}

bool Objects::may_store_past() const {
  return std::ranges::any_of(objects_, [](const Object& each) { return each.stream->may_store_past(); });
}

bool Objects::next(Access& access) {
  const double drawn = random_.uniform() * objects_.back().until;
  const auto found =
      std::ranges::find_if(objects_, [drawn](const Object& object) { return drawn < object.until; });
  Object& object = found == objects_.end() ? objects_.back() : *found;
  if (!object.stream->next(access)) return false;
  access.dependence = object.latest.among_all(access.dependence, made_);
  object.latest.add(made_++);
  return true;
}

bool Objects::add_demand(std::vector<DemandPart>& parts) const {
  double before = 0.0;
  for (const Object& object : objects_) {
    const std::size_t first = parts.size();
    if (!object.stream->add_demand(parts)) return false;
    for (std::size_t i = first; i < parts.size(); ++i)
      parts[i].share *= (object.until - before) / objects_.back().until;
    before = object.until;
  }
  return true;
}

std::vector<ObjectRange> objects_of(const std::string& kind, const Value& params) {
  return kind == kObjects ? read_params<ObjectsParams>(params).laid_out() : ranges_of_engine(kind, params);
}

}  // namespace cxloom
