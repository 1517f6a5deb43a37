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
  EXPECT_EQ(suggestion("powersgd", names), "one of gradient-sharing, dad, edad, rank-dad");
  EXPECT_EQ(suggestion("edda", names), "did you mean 'edad'?");
}

}  // namespace
}  // namespace dadsim
