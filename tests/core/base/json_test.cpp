#include "base/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.hpp"

namespace cxloom {
namespace {

TEST(Json, ReadsWhatItWrites) {
  const Value value(Value::Map{
      {"nothing", Value()},
      {"flags", Value::List{true, false}},
      {"counts", Value::List{0, -1, std::numeric_limits<std::int64_t>::max(),
                             std::numeric_limits<std::int64_t>::min()}},
      {"reals", Value::List{0.1, 1.0, -2.5e300, 5e-324, 1.0 / 3.0}},
      {"text", "a \"quoted\" \\ line\n\ttab \x01 \xc3\xa4 \xf0\x9f\x98\x80"},
      {"empty", Value::Map{}},
      {"list", Value::List{}},
  });
  EXPECT_EQ(parse_json(to_json(value)), value);
}

TEST(Json, WritesOneLineInTheOrderOfTheKeys) {
  const Value value(Value::Map{{"b", 1}, {"a", Value::List{1.0, "x"}}});
  EXPECT_EQ(to_json(value), R"({"b": 1, "a": [1.0, "x"]})");
  EXPECT_EQ(to_json(Value(std::nan(""))), "null");
}

TEST(Json, ReadsEscapesAndSpace) {
  const Value value = parse_json(" { \"a\" :\r\n[ \"\\u0041\\u00e4\\u20ac\\ud83d\\ude00\\/\\b\" , 1e3 ] } ");
  const Value::List& list = *value.find("a")->as_list();
  EXPECT_EQ(*list[0].as_text(), "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80/\b");
  EXPECT_EQ(*list[1].as_real(), 1000.0);
}

TEST(Json, NumbersNextToZeroAreZero) {
  for (const char* text : {"1e-400", "-123.45e-400", "1e-99999999999999999999"}) {
    const Value value = parse_json(text);
    ASSERT_NE(value.as_real(), nullptr) << text;
    EXPECT_EQ(*value.as_real(), 0.0) << text;
  }
  EXPECT_EQ(*parse_json("0." + std::string(400, '0') + "1").as_real(), 0.0);
  EXPECT_THROW(parse_json("1e99999999999999999999"), InputError);
}

TEST(Json, RefusesWhatIsNoJsonWithItsLine) {
  const struct {
    std::string text;
    std::string said;
  } cases[] = {
      {"", "ends in the middle"},
      {"{\n\"a\": 1,\n}", "line 3: no JSON: a key is missing"},
      {"{\"a\" 1}", "':' is missing"},
      {"[1, 2", "']' is missing"},
      {"[1] 2", "more after the end"},
      {"{\"a\": 1, \"b\": 2, \"a\": 3}", "the key 'a' stands twice"},
      {"\"half", "a text that does not end"},
      {"\"\\", "a text that does not end"},
      {"\"\\x\"", "'\\x' in a text"},
      {"\"\\u12\"", "four hexadecimal digits"},
      {"\"\\ud800\"", "surrogates"},
      {"\"\\udc00\"", "surrogates"},
      {"\"a\nb\"", "control character"},
      {"nul", "no JSON: 'nul'"},
      {"01", "no JSON: '01'"},
      {"+1", "no JSON: '+1'"},
      {".5", "no JSON: '.5'"},
      {"1.", "no JSON: '1.'"},
      {"1.e5", "no JSON: '1.e5'"},
      {"1e-400x", "no JSON: '1e-400x'"},
      {"123e400", "a number out of range: 123e400"},
      {"-", "no JSON: '-'"},
      {"1e", "no JSON: '1e'"},
      {"NaN", "no JSON: 'NaN'"},
      {"inf", "no JSON: 'inf'"},
      {"9223372036854775808", "out of range"},
      {"1e400", "out of range"},
      {std::string(200, '['), "nested more than 100 levels deep"},
  };
  for (const auto& each : cases) {
    try {
      parse_json(each.text);
      ADD_FAILURE() << each.text << " is read";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(each.said), std::string::npos)
          << each.text << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace cxloom
