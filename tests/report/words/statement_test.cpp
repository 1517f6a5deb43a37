#include "report/words/statement.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <stdexcept>

#include "report/documented_fields.hpp"

namespace dadsim::report {
namespace {

TEST(Statements, AreDocumentedAsTheyAre) {
  std::string rows;
  std::set<std::string> names;
  for (const StatementKind& kind : statement_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " is there twice";
    rows += fmt::format("| `{}` | {} |\n", kind.name, kind.when);
  }
  EXPECT_EQ(test::documented_rows("statements.md"), rows) << "docs/statements.md has to have these rows:\n" << rows;
}

TEST(Statements, AreTheSameAsDataAndInWords) {
  const Statement jitter = Statement{"jitter"}.with("spatial", 0.1).with("temporal", 0.05);
  const Json json = in_json(jitter);
  EXPECT_EQ(json["kind"], "jitter");
  EXPECT_EQ(json["values"]["spatial"], 0.1);
  EXPECT_EQ(json["words"], in_words(jitter));
  EXPECT_NE(in_words(jitter).find("sigma 0.1 between workers, 0.05 between steps"), std::string::npos);
  // NaN and infinity become null, in lists too.
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const Statement price = Statement{"device-price", {"gpu"}}
                              .with("currency", std::string("USD"))
                              .with("unknown", kNone)
                              .with("some", std::vector<double>{1, kNone});
  EXPECT_EQ(in_json(price)["values"]["some"], Json::parse("[1.0, null]"));
  EXPECT_TRUE(in_json(price)["values"]["unknown"].is_null());
}

TEST(Statements, WithoutWhatTheirWordsAreMadeOfAreBugs) {
  EXPECT_THROW(in_words(Statement{"no such kind"}), std::logic_error);
  EXPECT_THROW(in_words(Statement{"jitter"}.with("spatial", 0.1)), std::logic_error);
  EXPECT_THROW(in_words(Statement{"jitter"}.with("spatial", 0.1).with("temporal", true)), std::logic_error);
  EXPECT_THROW(in_words(Statement{"roofline"}.with("rates", std::string("r"))), std::logic_error) << "of nothing";
}

}  // namespace
}  // namespace dadsim::report
