#include "system/spec/section.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

struct PaintParams {
  std::uint32_t coats = 1;
  Time drying{5'000};
  std::optional<KindSpec> over;

  static void describe(Schema<PaintParams>& schema) {
    schema.doc("Paint.");
    schema.field("coats", &PaintParams::coats).min(1).doc("Coats.");
    schema.field("drying", &PaintParams::drying).doc("Time to dry.");
    schema.field("over", &PaintParams::over).category("media").default_text("none").doc("What is painted.");
  }
};

/// The declared sections and two more, each of one declaration, which put what they read into `paints`.
std::vector<SpecSection> with_paint(std::vector<PaintParams>& paints) {
  std::vector<SpecSection> sections = spec_sections();
  const auto store = [&paints](Spec&, PaintParams paint) { paints.push_back(std::move(paint)); };
  sections.push_back(params_section<PaintParams>("paint", SectionForm::kOne, "paint", store, "One paint."));
  sections.push_back(params_section<PaintParams>("paints", SectionForm::kEach, "paint", store, "Paints."));
  return sections;
}

Value spec_with(const std::string& key, Value written) {
  Value spec = SpecBuilder().device("host", "host").device("mem", "memory").link("host", "mem").value();
  spec.set(key, std::move(written));
  return spec;
}

TEST(SpecSection, OneDeclarationIsReadAndItsMistakesAreFound) {
  std::vector<PaintParams> paints;
  const std::vector<SpecSection> sections = with_paint(paints);
  const Registry& registry = Running::registry();
  const Spec spec = read_spec(spec_with("paint", Value::Map{{"coats", 3}}), registry, sections);
  EXPECT_EQ(spec.devices.size(), 2U);
  ASSERT_EQ(paints.size(), 1U);
  EXPECT_EQ(paints[0].coats, 3U);
  EXPECT_EQ(paints[0].drying, 5_ns);

  read_spec(spec_with("paints", Value::List{Value::Map{{"drying", "1ns"}}, Value::Map{{"coats", 2}}}),
            registry, sections);
  ASSERT_EQ(paints.size(), 3U);
  EXPECT_EQ(paints[1].drying, 1_ns);
  EXPECT_EQ(paints[2].coats, 2U);

  const auto error = [&](const std::string& key, Value written) {
    return input_error([&] { read_spec(spec_with(key, std::move(written)), registry, sections); });
  };
  EXPECT_EQ(error("paint", Value::Map{{"coats", 0}}).path(), "paint.coats");
  EXPECT_EQ(error("paint", Value::Map{{"coat", 1}}).detail().suggestion, "coats");
  EXPECT_EQ(error("paint", Value::Map{{"over", "fixd"}}).path(), "paint.over.kind");
  EXPECT_EQ(error("paints", Value::List{Value::Map{}, Value::Map{{"drying", 1}}}).path(), "paints[1].drying");
  EXPECT_EQ(error("paints", Value::Map{}).detail().problem, "not a list");
  EXPECT_EQ(error("pain", Value::Map{}).detail().suggestion, "paint");
}

TEST(SpecSection, EachEntryIsLookedAtByItself) {
  std::vector<PaintParams> paints;
  Value spec =
      spec_with("paints", Value::List{Value::Map{{"coats", 0}}, Value::Map{},
                                      Value::Map{{"over", Value::Map{{"kind", "fixed"}, {"banks", 0}}}}});
  spec.set("paint", Value::Map{{"drying", 5}});
  std::vector<std::string> paths;
  const ErrorList errors = entry_errors(spec, Running::registry(), with_paint(paints));
  for (const InputError& error : errors.errors()) paths.push_back(error.path());
  EXPECT_EQ(paths, (std::vector<std::string>{"paint.drying", "paints[0].coats", "paints[2].over.banks"}));
}

TEST(SpecSection, ATextIsATextAndNothingElse) {
  const Registry& registry = Running::registry();
  const auto read = [&](Value written) {
    return Spec::read(spec_with("name", std::move(written)), registry);
  };
  EXPECT_EQ(read("dragonfly").devices.size(), 2U);
  EXPECT_EQ(read(Value()).devices.size(), 2U);
  const std::vector<Value> wrong{5, Value::Map{{"a", 1}}, Value::List{}, true};
  for (const Value& written : wrong) {
    const InputError error = input_error([&] { read(written); });
    EXPECT_EQ(error.path(), "name");
    EXPECT_EQ(error.detail().problem, "not a text");
    EXPECT_EQ(error.detail().found, written.described());
    EXPECT_EQ(entry_errors(spec_with("name", written), registry, spec_sections()).errors().size(), 1U);
  }
}

TEST(SpecSection, OnlyDevicesAreRequired) {
  for (const SpecSection& section : spec_sections()) {
    EXPECT_EQ(section.required.empty(), section.name != "devices") << section.name;
    EXPECT_FALSE(section.doc.empty()) << section.name;
  }
}

}  // namespace
}  // namespace cxloom::test
