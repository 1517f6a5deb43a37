#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scenario/language/table.hpp"

namespace dadsim::test {
namespace {

using scenario::ElementRule;
using scenario::find_rule;

std::vector<std::string> names_of(bool ElementRule::*flag) {
  std::vector<std::string> names;
  for (const ElementRule& rule : scenario::vocabulary()) {
    if (rule.*flag) names.push_back(rule.name);
  }
  return names;
}

TEST(Vocabulary, HasARuleForEveryChild) {
  std::set<std::string> names;
  for (const ElementRule& rule : scenario::vocabulary()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    for (const std::string& child : rule.children) EXPECT_NE(find_rule(child), nullptr) << rule.name << " " << child;
  }
  EXPECT_EQ(find_rule("xs:element"), nullptr);
}

TEST(Vocabulary, KnowsRootsAndText) {
  EXPECT_EQ(names_of(&ElementRule::root),
            (std::vector<std::string>{"scenario", "cluster-platform", "workload", "recorded-step"}));
  EXPECT_EQ(names_of(&ElementRule::text), std::vector<std::string>{"description"});
}

TEST(Vocabulary, KnowsWhereParametersStand) {
  std::vector<std::string> names;
  for (const ElementRule& rule : scenario::vocabulary()) {
    if (!rule.parameters.empty()) names.push_back(rule.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"model", "run", "compress"}));
}

TEST(Vocabulary, KnowsWhatMayStandSeveralTimes) {
  for (const char* name : {"run", "worker", "sites", "dense", "vary", "layer", "price"}) {
    EXPECT_TRUE(find_rule(name)->repeatable) << name;
  }
  for (const char* name : {"scenario", "workers", "aggregator", "model", "shortcut", "hub", "adam", "egress"}) {
    EXPECT_FALSE(find_rule(name)->repeatable) << name;
  }
}

TEST(Vocabulary, KnowsAttributesInTheirOrder) {
  EXPECT_EQ(find_rule("run")->attribute_names(),
            (std::vector<std::string>{"algorithm", "label", "exchange", "all-reduce", "all-gather", "reduce-scatter",
                                      "bucket", "first-bucket", "weights", "failures", "availability", "jitter",
                                      "absent", "absent-patience", "absent-weights"}));
  EXPECT_EQ(find_rule("one-switch")->attribute_names(), std::vector<std::string>{"sharp"});
}

// Every default must be a valid value of its attribute.
TEST(Vocabulary, TakesItsOwnDefaults) {
  int defaults = 0;
  for (const ElementRule& rule : scenario::vocabulary()) {
    for (const scenario::AttributeRule& attribute : rule.attributes) {
      if (attribute.fallback.empty()) continue;
      EXPECT_TRUE(takes(attribute.kind, attribute.fallback)) << rule.name << " " << attribute.name;
      EXPECT_FALSE(attribute.required) << rule.name << " " << attribute.name;
      ++defaults;
    }
  }
  EXPECT_GT(defaults, 100);
}

TEST(Vocabulary, HoldsTheSameInPlacesOfTheSameKind) {
  std::vector<std::string> layers = find_rule("model")->children;
  EXPECT_EQ(layers.size(), 16U);
  EXPECT_EQ(layers.front(), "dense");
  EXPECT_EQ(find_rule("shortcut")->children, layers);
  layers.emplace_back("shortcut");
  EXPECT_EQ(find_rule("residual")->children, layers);
  EXPECT_EQ(find_rule("platform")->children, find_rule("cluster-platform")->children);
}

}  // namespace
}  // namespace dadsim::test
