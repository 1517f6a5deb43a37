// Tests how a document of one statement and one table looks in the four output formats of every command.
#include "report/document/document.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/html/page.hpp"

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
  steps.add_row().add("devices", "devices", 32, Unit::count);  // an incomplete row, which text output leaves out
  document.parts.push_back({.name = "steps", .shown = Shown::always, .heading = "Steps", .what = steps});
  document.say({Statement{"rows-left-out"}.with("rows", 4.0)});
  return document;
}

TEST(Document, IsPrintedForATerminalWithDetailsOnRequest) {
  const Summary summary = summary_of(sample(), false);
  EXPECT_EQ(summary.answer, "3 rows with more devices are left out; add --devices all.\n");
  EXPECT_NE(summary.body.find("Steps\ndevices  a step"), std::string::npos) << summary.body;
  EXPECT_NE(summary.body.find("250 ms         50 %"), std::string::npos) << summary.body;
  for (const char* absent : {"125 ms", "note", "32"}) EXPECT_EQ(summary.body.find(absent), std::string::npos) << absent;
  EXPECT_NE(summary.body.find("4 rows with more devices are left out"), std::string::npos);
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
  EXPECT_NE(html.find("<p class=\"verdict\">3 rows with more devices are left out"), std::string::npos);
  EXPECT_NE(html.find("two &lt;devices&gt;"), std::string::npos);
  EXPECT_NE(html.find(R"("columns":["devices","a step","note","of the peak"])"), std::string::npos);
  EXPECT_NE(html.find(R"(["16","125 ms","–","50 %"])"), std::string::npos);
}

TEST(Document, RefusesRowsOfOtherColumns) {
  DocumentTable table;
  table.add_row().add("a", 1);
  EXPECT_THROW(table.add_row().add("b", 1), std::logic_error);
}

TEST(Document, HoldsObjectsListsAndWhatIsNotKnown) {
  Document document;
  DocumentTable one{.object = true}, none{.object = true}, list;
  one.add_row().add("some", std::optional(2)).add("no", std::optional<double>()).add("out", Omitted());
  list.add_row().add("steps", std::vector<std::optional<std::int64_t>>{3, std::nullopt});
  document.add("a.one", one);
  document.add("a.none", none);
  document.add("a.list", list);
  document.add("texts", std::map<std::string, std::string>{{"x.y", "z"}});
  document.add("rows", std::vector<std::vector<double>>{{1, 2}, {}});
  document.add("most", std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(DocumentJson::parse(to_json(document)), DocumentJson::parse(R"({
    "a": {"one": {"some": 2, "no": null}, "none": null, "list": [{"steps": [3, null]}]}, "texts": {"x.y": "z"},
    "rows": [[1.0, 2.0], []], "most": 18446744073709551615})"))
      << to_json(document);
}

TEST(Document, HasColumnsOfTheJsonOrTheCsvAlone) {
  Document document;
  DocumentTable table;
  table.add_row().csv("of", "all").add("both", 1).json("alone", 2);
  document.add("first", DocumentValue());  // an empty value instead of a table
  document.parts.push_back({.name = "rows", .what = table});
  EXPECT_EQ(to_csv(document), "of,both\nall,1\n");
  EXPECT_EQ(DocumentJson::parse(to_json(document))["rows"][0], DocumentJson::parse(R"({"both":1,"alone":2})"));
}

TEST(Document, HasAPartThatReplacesAMemberAndDataOfItsPageAlone) {
  Document document = sample();
  document.add("answer", "replaced");
  document.parts.push_back({.name = "extra", .what = DocumentValue("for scripts"), .page_alone = true});
  const DocumentJson json = DocumentJson::parse(to_json(document));
  EXPECT_EQ(json["answer"], "replaced");
  EXPECT_FALSE(json.contains("extra"));
  EXPECT_NE(to_html(document).find("id=\"extra\">\n\"for scripts\"\n</script>"), std::string::npos);
}

TEST(Document, IsLedByOtherSentencesAndRestsOnOtherLines) {
  Document document = sample();
  document.lead = {"One.", "Two."};
  document.rests_on("brief\n", Shown::brief);
  document.rests_on("verbose\n", Shown::verbose);
  EXPECT_EQ(summary_of(document, false).answer, "One.\nTwo.\n");
  EXPECT_EQ(summary_of(document, false).background, "brief\n");
  EXPECT_EQ(summary_of(document, true).background, "verbose\n");
  EXPECT_EQ(verdict(document), "3 rows with more devices are left out; add --devices all.")
      << "a page has the statements";
}

TEST(Document, HasColumnsAndSentencesThatOnlyPagesShow) {
  Document document;
  document.command = "dadsim plan";
  document.setting = "Goal: 3 rows";
  document.facts = {{"Learned", "nothing"}};
  DocumentTable table{.best_first = true};
  table.add_row().add("rows", "rows", 3, Unit::plain).page("standing", "likely met");
  document.parts.push_back({.shown = Shown::page, .text = "The best first."});
  document.parts.push_back({.name = "answers", .shown = Shown::always, .what = table});
  document.parts.push_back({.shown = Shown::always, .what = BestSettings{{"timed-as.tensor=8", "seed=2"}}});
  const std::string text = summary_of(document, true).body;
  EXPECT_EQ(text.find("standing"), std::string::npos) << text;
  EXPECT_EQ(text.find("The best first."), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\nTo use it: --set timed-as.tensor=8 --set seed=2\n")) << text;
  EXPECT_EQ(to_csv(document), "rows\n3\n");
  const std::string html = to_html(document);
  EXPECT_NE(html.find("<p class=\"kind\">dadsim plan</p>"), std::string::npos);
  EXPECT_NE(html.find(R"({"setting":"Goal: 3 rows","facts":[["Learned","nothing"]],"parts":[{"sentences":["The best )"
                      R"(first."]},{"name":"answers","heading":"answers","columns":["rows","standing"],"rows":[["3",)"
                      R"("likely met"]],"first":0},{"set":["timed-as.tensor=8","seed=2"]}]})"),
            std::string::npos)
      << html.substr(html.find("id=\"document\""), 600);
}

TEST(Document, DrawsTextToTheLeftUnitsBelowTitlesAndProseThatWraps) {
  Document document;
  DocumentTable table{.style = {.left = {}, .indent = 2, .gap = 3, .rule = false}};
  for (const int size : {5, 50})
    table.add_row().add("a", "size\n(B)", size, Unit::plain).add("b", "name", size > 5 ? "ab" : "abcdef", Unit::text);
  document.parts.push_back({.shown = Shown::always, .what = table});
  EXPECT_EQ(summary_of(document, false).body,
            "  size   name\n"
            "   (B)\n"
            "     5   abcdef\n"
            "    50   ab\n");
  DocumentTable prose{.style = {.prose = true}};
  prose.add_row().say("run", "first").say("what it takes", std::string(100, 'x') + " and " + std::string(60, 'y'));
  document.parts = {{.shown = Shown::always, .what = prose}};
  EXPECT_EQ(summary_of(document, false).body,
            "run    what it takes\nfirst  " + std::string(100, 'x') + " and\n       " + std::string(60, 'y') + "\n");
}

}  // namespace
}  // namespace dadsim::report
