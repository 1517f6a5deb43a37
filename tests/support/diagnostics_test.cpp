#include "support/diagnostics.hpp"

#include <gtest/gtest.h>

namespace dadsim {
namespace {

TEST(Diagnostics, ReadAsFileLineWhatRemedy) {
  EXPECT_EQ(to_string(Diagnostic{"a.xml", 3, "no such host 'x'", "did you mean 'y'?"}),
            "a.xml:3: no such host 'x'; did you mean 'y'?");
  EXPECT_EQ(to_string(Diagnostic{"a.xml", 0, "is a folder", "name a file"}), "a.xml: is a folder; name a file");
  EXPECT_EQ(to_string(Diagnostic{"", 0, "wrong", ""}), "wrong");
}

TEST(Diagnostics, InputErrorSaysAll) {
  const InputError error({{"a", 1, "x", ""}, {"a", 2, "y", "z"}});
  EXPECT_STREQ(error.what(), "a:1: x\na:2: y; z");
}

TEST(Suggestion, FindsTheNearest) {
  const std::vector<std::string> names{"gradient-sharing", "dad", "edad", "rank-dad"};
  EXPECT_EQ(closest("gradient-shraing", names), "gradient-sharing");
  EXPECT_EQ(closest("rankdad", names), "rank-dad");
  EXPECT_EQ(closest("grad", names), "gradient-sharing") << "a beginning counts as near";
  EXPECT_EQ(closest("powersgd", names), "");
  EXPECT_EQ(closest("", names), "");
  EXPECT_EQ(suggestion("powersgd", names), "one of gradient-sharing, dad, edad, rank-dad") << "few are listed whole";
  std::vector<std::string> many = names;
  for (int i = 0; i < 17; ++i) many.push_back("another-method-" + std::to_string(i));
  EXPECT_EQ(suggestion("powersgd", many), "the nearest of 21 are edad, dad, rank-dad");
  EXPECT_EQ(suggestion("", many), "one of 21, such as gradient-sharing, dad, edad");
  EXPECT_EQ(suggestion("edda", names), "did you mean 'edad'?");
}

TEST(Suggestion, NamesAllThatAWordIsAPartOf) {
  const std::vector<std::string> names{"a10", "a100-sxm4-40", "a100-sxm4-80", "rtx-3090", "ab"};
  EXPECT_EQ(suggestion("a100", names), "did you mean 'a100-sxm4-40' or 'a100-sxm4-80'?") << "and not the nearest, a10";
  EXPECT_EQ(suggestion("A100-SXM4-8", names), "did you mean 'a100-sxm4-80'?");
  EXPECT_EQ(suggestion("3090", names), "did you mean 'rtx-3090'?");
  EXPECT_EQ(suggestion("sxm", names), "did you mean 'a100-sxm4-40' or 'a100-sxm4-80'?");
  EXPECT_EQ(suggestion("a1", names), "did you mean 'a10'?") << "two letters are part of too much";
  const std::vector<std::string> many(9, "alike");
  EXPECT_EQ(suggestion("alik", many), "did you mean 'alike'?") << "each once";
  const std::vector<std::string> five{"h100-a", "h100-b-long", "h100-c", "h100-d", "h100-e"};
  EXPECT_EQ(suggestion("H100", five), "did you mean 'h100-a', 'h100-c' or 'h100-d'?") << "the nearest three";
}

}  // namespace
}  // namespace dadsim
