#include "workload/placement/ranges.hpp"

#include <algorithm>

#include "workload/stream/access_stream.hpp"

namespace cxloom {

namespace {

std::unique_ptr<PagePlacement> made(const KindSpec& kinded, PlacementContext& context) {
  auto placement = context.kinds.make(kinded, context);
  if (!placement) {
    throw InputError(
        {"pages of a range have to be placed",
         "'" + kinded.kind + "'",
         "a placement other than as-is: a program's addresses are virtual, or physical, all of them",
         {}});
  }
  return placement;
}

std::string indexed(std::size_t i) { return "ranges[" + std::to_string(i) + "]"; }

/// The bytes of a range. Throws InputError for an object that there is not, or that begins within a page.
AddressRange bytes_of(const RangesPlacement::Range& range, const PlacementContext& context) {
  if (!range.object) return {*range.base, range.size->count()};
  const auto found = std::ranges::find(context.objects, *range.object, &ObjectRange::name);
  if (found == context.objects.end()) {
    std::vector<std::string> names;
    for (const ObjectRange& each : context.objects) names.push_back(each.name);
    throw InputError({"no object of this name", "'" + *range.object + "'",
                      names.empty() ? "base and size: this work has no objects" : list_names(names),
                      nearest_name(*range.object, names)},
                     "object");
  }
  const std::uint64_t page = context.page.count();
  if (found->base.value() % page != 0) {
    throw InputError({"an object begins within a page, part of which is of another",
                      "'" + *range.object + "' at " + to_text(found->base),
                      "align: " + to_text(context.page) + " of the objects",
                      {},
                      InputError::Kind::kBetween},
                     "object");
  }
  return {found->base, (found->size.count() + page - 1) / page * page};
}

}  // namespace

void RangesPlacement::Range::describe(Schema<Range>& schema) {
  schema.doc("A range of a program's addresses, or an object of it, and where its pages go.");
  schema.field("object", &Range::object)
      .default_text("none: base and size")
      .doc("An object of the program, by its name.");
  schema.field("base", &Range::base).default_text("that of the object").doc("First address: that of a page.");
  schema.field("size", &Range::size)
      .default_text("that of the object")
      .min(Bytes{1})
      .doc("Bytes: whole pages.");
  schema.field("place", &Range::place).category("placements").doc("Where its pages go.");
  schema.rule("a range has base and size, or is that of an object", [](const Range& range) {
    return range.object ? !range.base && !range.size : range.base && range.size;
  });
}

void RangesPlacement::Params::describe(Schema<Params>& schema) {
  schema.doc("A placement for each range of addresses, as a program that maps its memory itself has.");
  schema.field("ranges", &Params::ranges)
      .required()
      .where([](const auto& ranges) { return !ranges.empty(); }, "one range or more")
      .doc("The ranges, none of which overlap.");
  schema.field("otherwise", &Params::otherwise)
      .category("placements")
      .doc("Where pages go that are in no range.");
}

RangesPlacement::RangesPlacement(const Params& params, PlacementContext& context) {
  for (std::size_t i = 0; i < params.ranges.size(); ++i)
    with_path(indexed(i), [&] { add(params.ranges[i], context); });
  std::ranges::sort(ranges_, {}, &Pages::first);
  otherwise_ = with_path("otherwise", [&] { return made(params.otherwise, context); });
}

void RangesPlacement::add(const Range& range, PlacementContext& context) {
  const std::uint64_t page = context.page.count();
  const AddressRange bytes = bytes_of(range, context);
  const bool starts = bytes.base.value() % page == 0;
  if (!starts || bytes.bytes % page != 0) {
    throw InputError({"a range has whole pages of " + to_text(context.page),
                      starts ? to_text(Bytes{bytes.bytes}) : to_text(bytes.base),
                      "a multiple of " + to_text(context.page),
                      {}},
                     starts ? "size" : "base");
  }
  const std::uint64_t first = bytes.base.value() / page;
  const std::uint64_t end = first + bytes.bytes / page;
  const auto other =
      std::ranges::find_if(ranges_, [&](const Pages& each) { return first < each.end && each.first < end; });
  if (other != ranges_.end()) {
    throw InputError({"the range overlaps another",
                      to_text(bytes.base) + " + " + to_text(Bytes{bytes.bytes}),
                      "addresses outside of " + to_text(Address{other->first * page}) + " + " +
                          to_text(Bytes{(other->end - other->first) * page}),
                      {}},
                     range.object ? "object" : "base");
  }
  ranges_.push_back({first, end, with_path("place", [&] { return made(range.place, context); })});
}

void RangesPlacement::nodes_changed(const std::vector<bool>& has_memory) {
  for (Pages& range : ranges_) range.placement->nodes_changed(has_memory);
  otherwise_->nodes_changed(has_memory);
}

void RangesPlacement::restart() {
  for (Pages& range : ranges_) range.placement->restart();
  otherwise_->restart();
}

std::vector<std::vector<std::size_t>> RangesPlacement::named() const {
  std::vector<std::vector<std::size_t>> named = otherwise_->named();
  for (const Pages& range : ranges_) {
    for (std::vector<std::size_t>& nodes : range.placement->named()) named.push_back(std::move(nodes));
  }
  return named;
}

std::uint64_t RangesPlacement::sure_of() const {
  std::uint64_t least = otherwise_->sure_of();
  for (const Pages& range : ranges_) least = std::min(least, range.placement->sure_of());
  return least;
}

bool RangesPlacement::is_explicit(std::uint64_t page) const {
  const auto next = std::ranges::upper_bound(ranges_, page, {}, &Pages::first);
  const bool in_range = next != ranges_.begin() && page < std::prev(next)->end;
  return (in_range ? *std::prev(next)->placement : *otherwise_).is_explicit(page);
}

std::optional<PagePlacement::Choice> RangesPlacement::place(std::uint64_t page, std::uint64_t count,
                                                            std::span<const std::uint64_t> free) {
  const auto [placement, alike] = of(page, count);
  return placement->place(page, alike, free);
}

PagePlacement::Round RangesPlacement::round(std::uint64_t page, std::uint64_t count) const {
  const auto [placement, alike] = of(page, count);
  return placement->round(page, alike);
}

std::pair<PagePlacement*, std::uint64_t> RangesPlacement::of(std::uint64_t page, std::uint64_t count) const {
  const auto next = std::ranges::upper_bound(ranges_, page, {}, &Pages::first);
  if (next != ranges_.begin()) {
    const Pages& range = *std::prev(next);
    if (page < range.end) return {range.placement.get(), std::min(count, range.end - page)};
  }
  const std::uint64_t until = next != ranges_.end() ? next->first - page : count;
  return {otherwise_.get(), std::min(count, until)};
}

}  // namespace cxloom
