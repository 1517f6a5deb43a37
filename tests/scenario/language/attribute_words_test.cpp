#include <gtest/gtest.h>

#include <string>

#include "scenario/language/schema.hpp"

namespace dadsim::scenario {
namespace {

TEST(AttributeWords, AreThoseOfThePage) {
  EXPECT_EQ(attribute_words("jitter", "temporal"),
            "Standard deviation of the logarithm from step to step of each worker, from 0 to 3.");
  EXPECT_EQ(attribute_words("region", "hosts"), "How many, 1 … 100,000.") << "a table of several elements";
  EXPECT_NE(attribute_words("availability", "file").find("`host time on|off`"), std::string::npos) << "a bar in a cell";
  EXPECT_EQ(attribute_words("jitter", "hosts"), "");
  EXPECT_EQ(attribute_words("no-such", "hosts"), "");
}

}  // namespace
}  // namespace dadsim::scenario
