// A document with one statement and one table, in the four forms that every command prints.
#include "report/document/document.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/html/document.hpp"

namespace dadsim::report {
namespace {

using DocumentJson = nlohmann::ordered_json;

Document sample() {
  Document document;
  document.head.version = "1.2";
  document.head.scenario_name = "two <devices>";
  document.answer = {Statement{"rows-left-out"}.with("rows", 3.0)};
  document.add("model", "gpt, small");
  DocumentTable steps;
  for (const int devices : {8, 16}) {
    steps.add_row(devices > 8)
        .add("devices", "devices", devices, Unit::count)
        .add("step.seconds", "a step", 2.0 / devices, Unit::seconds)
        .add("step.share", "", 0.5, Unit::share)
        .add("note", "note", DocumentValue(), Unit::plain)
        .say("of the peak", "50 %");
  }
  steps.add_row().add("devices", "devices", 32, Unit::count);  // ends early: not for people
  document.parts.push_back({.name = "steps", .shown = Shown::always, .heading = "Steps", .what = steps});
  document.say({Statement{"rows-left-out"}.with("rows", 4.0)});
  return document;
}

TEST(Document, IsPrintedForATerminalWithDetailsOnRequest) {
  const Summary summary = summary_of(sample(), false);
  EXPECT_EQ(summary.answer, "3 rows are of more devices: --devices all.\n");
  EXPECT_NE(summary.body.find("Steps\ndevices  a step"), std::string::npos) << summary.body;
  EXPECT_NE(summary.body.find("250 ms         50 %"), std::string::npos) << summary.body;
  for (const char* absent : {"125 ms", "note", "32"}) EXPECT_EQ(summary.body.find(absent), std::string::npos) << absent;
  EXPECT_NE(summary.body.find("4 rows are of more devices"), std::string::npos);
  EXPECT_NE(summary_of(sample(), true).body.find("125 ms"), std::string::npos);
}

TEST(Document, IsPrintedAsJson) {
  const DocumentJson json = DocumentJson::parse(to_json(sample()));
  EXPECT_EQ(json["answer"]["statements"][0]["kind"], "rows-left-out");
  EXPECT_EQ(json["model"], "gpt, small");
  EXPECT_EQ(json["steps"][1],
            DocumentJson::parse(R"({"devices":16,"step":{"seconds":0.125,"share":0.5},"note":null})"));
  EXPECT_EQ(json["steps"][2], DocumentJson::parse(R"({"devices":32})"));
  EXPECT_EQ(json["assumptions"], DocumentJson::array());
}

TEST(Document, IsPrintedAsCsv) {
  EXPECT_EQ(to_csv(sample()), "devices,step.seconds,step.share,note\n8,0.25,0.5,\n16,0.125,0.5,\n32,,,\n");
}

TEST(Document, IsPrintedAsAPage) {
  const std::string html = to_html(sample());
  EXPECT_NE(html.find("<p class=\"verdict\">3 rows are of more devices"), std::string::npos);
  EXPECT_NE(html.find("two &lt;devices&gt;"), std::string::npos);
  EXPECT_NE(html.find(R"("columns":["devices","a step","note","of the peak"])"), std::string::npos);
  EXPECT_NE(html.find(R"(["16","125 ms","–","50 %"])"), std::string::npos);
}

TEST(Document, RefusesRowsOfOtherColumns) {
  DocumentTable table;
  table.add_row().add("a", 1);
  EXPECT_THROW(table.add_row().add("b", 1), std::logic_error);
}

}  // namespace
}  // namespace dadsim::report
