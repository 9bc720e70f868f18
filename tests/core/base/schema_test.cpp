#include "base/schema.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/support/errors.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::input_error;

struct Inner {
  Bytes size{32 * 1024};
  std::uint32_t ways = 8;
  static void describe(Schema<Inner>& schema) {
    schema.doc("A cache.");
    schema.field("size", &Inner::size).min(64_B).max(1_GiB).doc("Bytes.");
    schema.field("ways", &Inner::ways).min(1).doc("Ways.");
    schema.rule("the size must be a multiple of the ways",
                [](const Inner& inner) { return inner.ways != 0 && inner.size.count() % inner.ways == 0; });
  }
};

enum class Colour : std::uint8_t { kRed, kGreen };

struct Outer {
  Time time{10'000};
  double share = 0.5;
  std::optional<Inner> cache;
  std::vector<std::uint32_t> list;
  Colour colour = Colour::kGreen;
  std::string name;
  bool flag = false;
  Address address;
  std::vector<Inner> several;
  static void describe(Schema<Outer>& schema) {
    schema.doc("Everything.");
    schema.field("time", &Outer::time).max(1_us).source("Table I");
    schema.field("share", &Outer::share).fraction();
    schema.field("cache", &Outer::cache).default_text("none");
    schema.field("list", &Outer::list);
    schema.choice("colour", &Outer::colour, {{"red", Colour::kRed}, {"green", Colour::kGreen}});
    schema.field("name", &Outer::name).required();
    schema.field("flag", &Outer::flag);
    schema.field("address", &Outer::address);
    schema.field("several", &Outer::several);
  }
};

InputError error_of(Value::Map map) {
  map.emplace_back("name", "x");
  return input_error([&] { read_params<Outer>(Value(map)); });
}
Outer read(Value::Map map) {
  map.emplace_back("name", "x");
  return read_params<Outer>(Value(map));
}

TEST(Schema, WhatIsNotSaidKeepsItsDefault) {
  const Outer params = read({});
  EXPECT_EQ(params.time, 10_ns);
  EXPECT_EQ(params.share, 0.5);
  EXPECT_FALSE(params.cache);
  EXPECT_EQ(params.colour, Colour::kGreen);
}

TEST(Schema, EveryTypeIsRead) {
  const Outer params = read({{"time", "5ns"},
                             {"share", "25%"},
                             {"cache", Value::Map{{"ways", 4}}},
                             {"list", Value::List{1, 2, 3}},
                             {"colour", "red"},
                             {"flag", true},
                             {"address", "0x40"},
                             {"several", Value::List{Value::Map{{"ways", 2}}, Value::Map{}}}});
  EXPECT_EQ(params.time, 5_ns);
  EXPECT_EQ(params.share, 0.25);
  EXPECT_EQ(params.cache->ways, 4U);
  EXPECT_EQ(params.cache->size, 32_KiB);
  EXPECT_EQ(params.list, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(params.colour, Colour::kRed);
  EXPECT_TRUE(params.flag);
  EXPECT_EQ(params.address, Address{64});
  EXPECT_EQ(params.several.size(), 2U);
  EXPECT_EQ(read({{"share", 1}}).share, 1.0);
  EXPECT_EQ(read({{"address", 64}}).address, Address{64});
  EXPECT_FALSE(read({{"cache", Value()}}).cache);  // an empty entry: none
}

TEST(Schema, ANullIsTheDefaultOfAnyType) {
  const Outer params = read({{"time", Value()},
                             {"share", Value()},
                             {"cache", Value()},
                             {"list", Value()},
                             {"colour", Value()},
                             {"flag", Value()},
                             {"address", Value()},
                             {"several", Value()}});
  EXPECT_EQ(params.time, 10_ns);
  EXPECT_EQ(params.share, 0.5);
  EXPECT_FALSE(params.cache);
  EXPECT_TRUE(params.list.empty());
  EXPECT_EQ(params.colour, Colour::kGreen);
  EXPECT_FALSE(params.flag);
  EXPECT_EQ(params.address, Address{});
  EXPECT_TRUE(params.several.empty());
  EXPECT_EQ(read({{"cache", Value::Map{{"size", Value()}, {"ways", 4}}}}).cache->size, 32_KiB);
}

TEST(Schema, ANullForARequiredOneIsNamed) {
  const InputError error = input_error([] { read_params<Outer>(Value(Value::Map{{"name", Value()}})); });
  EXPECT_EQ(error.path(), "name");
  EXPECT_EQ(error.detail().problem, "'name' is missing");
}

TEST(Schema, BoundsAreInclusiveAndNamed) {
  EXPECT_EQ(read({{"time", "1us"}}).time, 1_us);
  const InputError error = error_of({{"time", "1001ns"}});
  EXPECT_EQ(error.path(), "time");
  EXPECT_EQ(error.detail().problem, "out of bounds");
  EXPECT_EQ(error.detail().found, "1001ns");
  EXPECT_EQ(error.detail().allowed, "at most 1us");
  EXPECT_EQ(error_of({{"share", 1.01}}).detail().allowed, "at most 1");
  EXPECT_EQ(error_of({{"share", -0.01}}).detail().allowed, "at least 0");
  EXPECT_EQ(error_of({{"share", 70}}).detail().suggestion, "70%");
  EXPECT_EQ(error_of({{"share", 12.5}}).detail().suggestion, "12.5%");
  for (const double other : {1.01, -70.0, 101.0})
    EXPECT_EQ(error_of({{"share", other}}).detail().suggestion, "") << other;
}

TEST(Schema, NestedPaths) {
  EXPECT_EQ(error_of({{"cache", Value::Map{{"size", "2GiB"}}}}).path(), "cache.size");
  EXPECT_EQ(error_of({{"cache", Value::Map{{"size", 64}}}}).path(), "cache.size");
  EXPECT_EQ(error_of({{"cache", Value::Map{{"ways", 3}}}}).path(), "cache");  // a rule between two
  EXPECT_EQ(error_of({{"list", Value::List{1, "two"}}}).path(), "list[1]");
  EXPECT_EQ(error_of({{"several", Value::List{Value::Map{}, Value::Map{{"ways", 0}}}}}).path(),
            "several[1].ways");
}

TEST(Schema, AnUnknownKeyIsNamedWithTheNearest) {
  const InputError error = error_of({{"tiem", "5ns"}});
  EXPECT_EQ(error.detail().problem, "unknown key 'tiem'");
  EXPECT_EQ(error.detail().suggestion, "time");
  EXPECT_EQ(error.path(), "tiem");
  EXPECT_EQ(error_of({{"cache", Value::Map{{"way", 2}}}}).path(), "cache.way");
  EXPECT_EQ(error_of({{"cache", Value::Map{{"way", 2}}}}).detail().suggestion, "ways");
}

TEST(Schema, WrongTypes) {
  EXPECT_EQ(error_of({{"time", 5}}).detail().problem, "the unit is missing");
  EXPECT_EQ(error_of({{"time", true}}).detail().problem, "not a quantity");
  EXPECT_EQ(error_of({{"list", 5}}).detail().problem, "not a list");
  EXPECT_EQ(error_of({{"list", Value::List{-1}}}).detail().problem, "a negative number");
  EXPECT_EQ(error_of({{"list", Value::List{1.5}}}).detail().problem, "not a whole number");
  EXPECT_EQ(error_of({{"list", Value::List{std::int64_t{1} << 32}}}).detail().problem,
            "the number is too large");
  EXPECT_EQ(error_of({{"cache", 5}}).detail().problem, "not a map of parameters");
  EXPECT_EQ(error_of({{"flag", "yes"}}).detail().problem, "not true or false");
  EXPECT_EQ(error_of({{"share", "nan%"}}).detail().problem, "not a finite number");
  EXPECT_EQ(error_of({{"address", -1}}).detail().problem, "not an address");
  const InputError colour = error_of({{"colour", "gren"}});
  EXPECT_EQ(colour.detail().problem, "unknown choice");
  EXPECT_EQ(colour.detail().allowed, "red or green");
  EXPECT_EQ(colour.detail().suggestion, "green");
}

TEST(Schema, ARequiredOneMustBeThere) {
  const InputError error = input_error([] { read_params<Outer>(Value(Value::Map{})); });
  EXPECT_EQ(error.detail().problem, "'name' is missing");
  EXPECT_EQ(input_error([] { read_params<Outer>(Value()); }).detail().problem, "'name' is missing");
}

TEST(Schema, TellsWhatItDeclares) {
  const SchemaInfo& info = schema_info<Outer>();
  EXPECT_EQ(info.doc, "Everything.");
  ASSERT_EQ(info.fields.size(), 9U);
  const auto field = [&](std::size_t i) -> const FieldInfo& { return info.fields[i]; };
  EXPECT_EQ(field(0).type, "time");
  EXPECT_EQ(field(0).default_text, "10ns");
  EXPECT_EQ(field(0).maximum, "1us");
  EXPECT_EQ(field(0).source, "Table I");
  EXPECT_EQ(field(1).type, "fraction");
  EXPECT_EQ(field(1).default_text, "0.5");
  EXPECT_EQ(field(2).type, "map");
  EXPECT_EQ(field(2).default_text, "none");
  ASSERT_TRUE(field(2).fields);
  EXPECT_EQ(field(2).fields->fields[0].default_text, "32KiB");
  EXPECT_EQ(field(2).fields->fields[0].minimum, "64B");
  EXPECT_EQ(field(3).item, "integer");
  EXPECT_EQ(field(4).choices, (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(field(4).default_text, "green");
  EXPECT_TRUE(field(5).required);
  EXPECT_EQ(field(5).default_text, "");
  EXPECT_EQ(field(6).default_text, "false");
}

struct Banked {
  std::optional<std::uint32_t> banks;
  std::uint32_t interleave = 256;
  bool open = false;
  static void describe(Schema<Banked>& schema) {
    schema.field("banks", &Banked::banks);
    schema.field("interleave", &Banked::interleave);
    schema.field("open", &Banked::open);
    schema.effective(
        "interleave", [](const Banked& banked) { return banked.banks.has_value(); },
        "unless there are banks");
    schema.rule(
        "only banks are open", [](const Banked& banked) { return banked.banks || !banked.open; }, "open");
  }
};

TEST(Schema, RefusesWhatHasNoEffectHoweverItIsWritten) {
  for (const int interleave : {64, 256}) {  // which is the default
    const Value::Map alone{{"interleave", interleave}};
    const InputError error = test::input_error([&] { read_params<Banked>(alone); });
    EXPECT_STREQ(error.what(), "interleave: interleave has no effect unless there are banks");
    EXPECT_EQ(error.detail().kind, InputError::Kind::kNoEffect);
    EXPECT_NO_THROW(read_params<Banked>(Value::Map{{"interleave", interleave}, {"banks", 1}}));
    EXPECT_NO_THROW(read_params<Banked>(alone, Value::Map{}));  // somebody else wrote it
  }
  EXPECT_NO_THROW(read_params<Banked>(Value::Map{{"banks", Value()}}));
  Banked banked;
  EXPECT_NO_THROW(check_params(banked));
  banked.interleave = 64;
  EXPECT_THROW(check_params(banked), InputError);
}

TEST(Schema, NamesTheKeyThatARuleBlames) {
  const InputError error = test::input_error([&] { read_params<Banked>(Value::Map{{"open", true}}); });
  EXPECT_EQ(error.path(), "open");
  EXPECT_EQ(error.detail().kind, InputError::Kind::kBetween);
}

TEST(Schema, FindsWhatWasWritten) {
  struct Share {
    double part = 0.5;
    static void describe(Schema<Share>& schema) {
      schema.field("part", &Share::part).fraction([](double part) { return part > 0 && part <= 1; }, "some");
    }
  };
  for (const char* const text : {"-1%", "0%", "101%"}) {
    const InputError error = test::input_error([&] { read_params<Share>(Value::Map{{"part", text}}); });
    EXPECT_EQ(error.what(), std::string("part: out of bounds, found ") + text + "; allowed: some");
  }
  EXPECT_EQ(schema_info<Share>().fields[0].type, "fraction");
  EXPECT_EQ(Value(std::numeric_limits<double>::infinity()).described(), ".inf");
  EXPECT_EQ(Value(-std::numeric_limits<double>::infinity()).described(), "-.inf");
  EXPECT_EQ(Value(std::numeric_limits<double>::quiet_NaN()).described(), ".nan");
}

TEST(Schema, ChecksWhatWasSetFromCxx) {
  Inner inner;
  check_params(inner);
  inner.ways = 0;
  EXPECT_THROW(check_params(inner), InputError);
}

TEST(KindSpec, IsATextOrAMapWithAKind) {
  KindSpec kinded;
  read_value(Value("ring"), kinded);
  EXPECT_EQ(kinded.kind, "ring");
  read_value(Value(Value::Map{{"latency", "45ns"}, {"kind", "fixed"}}), kinded);
  EXPECT_EQ(kinded.kind, "fixed");
  EXPECT_EQ(kinded.params.as_map()->size(), 1U);
  EXPECT_THROW(read_value(Value(Value::Map{{"latency", "45ns"}}), kinded), InputError);
  EXPECT_THROW(read_value(Value(5), kinded), InputError);
}

}  // namespace
}  // namespace cxloom
