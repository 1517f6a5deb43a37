// One fact has one name and one value, whichever output says it: over scenarios that are drawn, a run's figures are the
// same in its JSON, its CSV, the CSV of a sweep of that one point, and the library, and one verdict is drawn from them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "api/dadsim.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::api {
namespace {

using nlohmann::json;

constexpr int kScenarios = 200;

/// Draws the parts of a small scenario.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[random_() % values.size()];
  }
  bool maybe() { return random_() % 2 == 0; }

  std::string scenario(const std::string& sweep) {
    // The first draws are the same with and without a sweep: nothing is drawn for it.
    const int sites = one_of<int>({1, 2, 3});
    const char* exchange = one_of<const char*>({"aggregator", "peer"});
    std::string runs;
    const std::vector<std::string> synchronous{
        R"(<run algorithm="gradient-sharing" exchange="{}"/>)", R"(<run algorithm="dad" exchange="{}"/>)",
        R"(<run algorithm="rank-dad" cap="2" exchange="{}"/>)",
        R"(<run algorithm="gradient-sharing" label="top, &quot;k&quot;" exchange="{}"><compress method="top-k"/></run>)"};
    for (const std::string& run : synchronous) {
      if (maybe() || runs.empty()) runs += fmt::format(fmt::runtime(run), exchange) + '\n';
    }
    if (maybe()) runs += "<run algorithm=\"pooled\"/>\n";
    const bool event_driven = sites > 1 && maybe();
    if (event_driven) {
      runs += one_of<std::string>(
          {R"(<run algorithm="fedavg" rounds="2" deadline="5"/>)", R"(<run algorithm="async-sgd"/>)"});
    }
    // Timed as something else, with its steps known or not, by several seeds; or nothing is learned.
    const std::string timed_as =
        event_driven ? ""
                     : one_of<std::string>({"", "", R"(<timed-as workload="resnet-50" batch="4" steps="1000"/>)",
                                            R"(<timed-as workload="gpt-2-medium" batch="1"/>)"});
    const bool timing_only = !timed_as.empty() && maybe();
    const std::string learning = one_of<std::string>({R"(batch="2")", R"(batch="4")"}) +
                                 (timed_as.empty() ? "" : R"( seeds="2")") +
                                 fmt::format(R"( target-accuracy="{}")", one_of<std::string>({"0.12", "0.25", "0.9"}));
    const std::string learns = timing_only ? "<timing-only/>"
                                           : fmt::format(R"(<data><digits train="{}" test="20"/></data>
  <model><dense units="4"/><dense units="10"/></model>
  <training epochs="3" {}/>)",
                                                         20 * sites, learning);
    const std::string costs = maybe() ? R"(<costs electricity="0.25" carbon="300">
    <price device="rtx-3090" per-hour="0.35"/><price device="xeon-8380" per-hour="1.2"/></costs>)"
                                      : "";
    const std::string network = maybe() ? R"(<network timed-steps="8"/>)" : "";
    const std::string lines = fmt::format(R"(up="{}" latency="{}")", one_of<std::string>({"1Mbps", "20Mbps", "1Gbps"}),
                                          one_of<std::string>({"1ms", "20ms"}));
    return fmt::format(R"(<scenario name="Drawn, &quot;small&quot;" seed="{}">
  <platform><federation><sites name="site" count="{}" down="50Mbps" {}/></federation></platform>
  {}
  <workers><worker hosts="site-[1-{}]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  {}
  {} {} {}
</scenario>
)",
                       1 + random_() % 1000, sites, lines, network, sites, learns, timed_as, costs, runs + sweep);
  }

 private:
  std::mt19937 random_;
};

/// The lines of a CSV, each by the names of its columns.
std::vector<std::map<std::string, std::string>> lines_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char one = csv[i];
    if (one == '"') {
      if (quoted && i + 1 < csv.size() && csv[i + 1] == '"')
        rows.back().back() += csv[i++];
      else
        quoted = !quoted;
    } else if (one == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (one == '\n' && !quoted) {
      rows.push_back({""});
    } else {
      rows.back().back() += one;
    }
  }
  rows.pop_back();
  std::vector<std::map<std::string, std::string>> lines;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].size(), rows[0].size());
    std::map<std::string, std::string>& line = lines.emplace_back();
    for (std::size_t at = 0; at < rows[i].size(); ++at) line[rows[0][at]] = rows[i][at];
  }
  return lines;
}

void expect_cell(const std::map<std::string, std::string>& line, const Figure& figure, const Run& run) {
  const auto cell = line.find(figure.name);
  if (cell == line.end()) {
    EXPECT_EQ(figure.name, "causes_in_words") << "is in no CSV";
  } else if (figure.kind == Figure::Kind::text) {
    EXPECT_EQ(cell->second, run.text(figure.name)) << figure.name;
  } else if (const double value = run.figure(figure.name); !std::isfinite(value)) {
    EXPECT_EQ(cell->second, "") << figure.name;
  } else if (figure.kind == Figure::Kind::truth) {
    EXPECT_EQ(cell->second, value == 1 ? "true" : "false") << figure.name;
  } else {
    ASSERT_NE(cell->second, "") << figure.name;
    EXPECT_EQ(std::stod(cell->second), value) << figure.name;
  }
}

void expect_json(const json& told, const Figure& figure, const Run& run) {
  ASSERT_TRUE(told.contains(figure.name)) << figure.name;
  const json& value = told[figure.name];
  if (figure.kind == Figure::Kind::text) {
    EXPECT_EQ(value.is_null() ? "" : value.get<std::string>(), run.text(figure.name)) << figure.name;
  } else if (const double number = run.figure(figure.name); !std::isfinite(number)) {
    EXPECT_TRUE(value.is_null()) << figure.name;
  } else if (figure.kind == Figure::Kind::truth) {
    EXPECT_EQ(value.get<bool>(), number == 1) << figure.name;
  } else {
    EXPECT_EQ(value.get<double>(), number) << figure.name;
  }
}

/// The result that a page holds.
json in_page(const std::string& html) {
  const std::string before = R"(<script type="application/json" id="result">)";
  const std::size_t start = html.find(before) + before.size();
  return json::parse(html.substr(start, html.find("</script", start) - start));
}

/// How the runs of a result and the same of a sweep of that one point stand to the first of them.
void expect_same_verdict(const json& result, const json& sweep) {
  const json& point = sweep["points"][0];
  const json& ranking = result["answer"]["ranking"];
  std::vector<std::string> ranked;
  for (const json& one : point["ranked"]) {
    if (one.size() > 1) ranked.push_back(sweep["runs"][one[0].get<std::size_t>()]["label"]);
  }
  ASSERT_EQ(ranked.size(), ranking.size()) << result["answer"] << point;
  std::size_t beside = 0;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    EXPECT_EQ(ranked[i], ranking[i]["run"]);
    if (i == 0) continue;
    const json& ours = ranking[i]["of_first"];
    const json& theirs = point["of_first"][i - 1];
    EXPECT_EQ(ours["value"], theirs[0]) << ranked[i];
    EXPECT_EQ(ours["low"], theirs[1]) << ranked[i];
    EXPECT_EQ(ours["high"], theirs[2]) << ranked[i];
    const std::string verdict = ranking[i]["verdict"];
    if (beside == i - 1 && (verdict == "equal" || verdict == "undecided")) ++beside;
  }
  EXPECT_EQ(point["beside"].size(), beside) << result["answer"] << point;
}

TEST(SameFigures, InTheJsonTheCsvASweepOfOnePointAndTheLibrary) {
  const test::TemporaryFolder folder;
  std::map<std::string, int> known;  // in how many runs a figure had a value
  const Options options{.threads = 1, .progress = {}};
  for (unsigned seed = 1; seed <= kScenarios; ++seed) {
    const std::string xml = Draw(seed).scenario("");
    SCOPED_TRACE(xml);
    const Result result = run(Scenario::load(folder.write("drawn.xml", xml)), options);
    const std::string swept = folder.write(
        "swept.xml",
        Draw(seed).scenario("<sweep><vary path=\"platform.federation.sites.down\" values=\"50Mbps\"/></sweep>"));
    const std::string file = folder.path(fmt::format("{}.sqlite", seed));
    const Sweep of_one_point = sweep(swept, file, {}, options);
    const auto points = lines_of(of_one_point.csv());
    expect_same_verdict(json::parse(result.json()), in_page(of_one_point.html()));
    const auto curve = lines_of(result.csv());
    const json told = json::parse(result.json())["runs"];
    ASSERT_EQ(points.size(), result.runs().size());
    ASSERT_EQ(told.size(), result.runs().size());
    for (std::size_t i = 0; i < told.size(); ++i) {
      const api::Run& one = result.runs()[i];
      const auto of_run = [&](const auto& line) { return line.at("label") == one.label(); };
      const auto last = std::find_if(curve.rbegin(), curve.rend(), of_run);
      ASSERT_NE(last, curve.rend());
      for (const Figure& figure : figures()) {
        expect_json(told[i], figure, one);
        expect_cell(*last, figure, one);
        expect_cell(points[i], figure, one);
        known[figure.name] +=
            figure.kind == Figure::Kind::text ? !one.text(figure.name).empty() : std::isfinite(one.figure(figure.name));
      }
    }
    if (HasFailure()) return;
  }
  for (const Figure& figure : figures()) EXPECT_GT(known[figure.name], 0) << figure.name << " was never known";
}

TEST(SameFigures, NamesThatAreNoneAreToldSo) {
  const test::TemporaryFolder folder;
  const Result result = run(Scenario::load(folder.write("drawn.xml", Draw(1).scenario(""))));
  EXPECT_THROW(result.runs()[0].figure("bytes"), std::out_of_range);
  EXPECT_THROW(result.runs()[0].figure("label"), std::out_of_range);
  EXPECT_THROW(static_cast<void>(result.runs()[0].text("steps")), std::out_of_range);
}

}  // namespace
}  // namespace dadsim::api
