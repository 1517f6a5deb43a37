// Tests a document's charts and tables as files for a paper: SVG, CSV and LaTeX.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include "report/document/document.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::report {
namespace {

const std::string kOddName = R"(a <b> & "c" 50 % of #1_x $y$ \end{tabular} ~^{})";

/// Expects well-formed XML: tags in pairs, quoted attributes, and no bare & or <.
void expect_well_formed(const std::string& xml) {
  static const std::regex tag(
      R"rx(<(/?)([a-z]+)((?:\s+[a-zA-Z:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*")*)\s*(/?)>)rx");
  const std::string declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  ASSERT_TRUE(xml.starts_with(declaration));
  std::vector<std::string> open;
  std::size_t at = declaration.size();
  for (std::sregex_iterator found(xml.begin() + static_cast<std::ptrdiff_t>(at), xml.end(), tag), end; found != end;
       ++found) {
    const std::string before = found->prefix().str();
    EXPECT_TRUE(std::regex_match(before, std::regex("(?:[^<&]|&(?:amp|lt|gt|quot);)*"))) << before;
    const bool closes = !(*found)[1].str().empty();
    if (closes) {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), (*found)[2].str());
      open.pop_back();
    } else if ((*found)[4].str().empty()) {
      open.push_back((*found)[2].str());
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_TRUE(xml.ends_with("</svg>\n"));
  EXPECT_TRUE(std::ranges::none_of(xml, [](unsigned char c) { return c < ' ' && c != '\n'; }));
}

/// Expects a valid `tabular`: braces in pairs, as many cells per row as columns, and no unescaped special character.
void expect_latex_table(const std::string& latex, std::size_t columns) {
  std::istringstream text(latex);
  std::string line;
  ASSERT_TRUE(std::getline(text, line) && line.starts_with("% "));
  std::getline(text, line);
  ASSERT_TRUE(std::regex_match(line, std::regex(R"(\\begin\{tabular\}\{[lr]+\})"))) << line;
  EXPECT_EQ(line.size(), std::string("\\begin{tabular}{}").size() + columns);
  std::size_t rows = 0;
  bool ended = false;
  while (std::getline(text, line)) {
    EXPECT_FALSE(ended) << line;
    if (line == "\\hline") continue;
    if (line == "\\end{tabular}") {
      ended = true;
      continue;
    }
    ++rows;
    ASSERT_TRUE(line.ends_with(" \\\\")) << line;
    std::size_t cells = 1, depth = 0;
    bool mathematics = false;
    for (std::size_t i = 0; i + 3 < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;  // a command or an escaped character
        continue;
      }
      EXPECT_EQ(std::string("#%_^").find(line[i]) != std::string::npos && !mathematics, false) << line;
      if (line[i] == '&') ++cells;
      if (line[i] == '$') mathematics = !mathematics;
      if (line[i] == '{') ++depth;
      if (line[i] == '}') --depth;
    }
    EXPECT_EQ(cells, columns) << line;
    EXPECT_EQ(depth, 0U) << line;
    EXPECT_FALSE(mathematics) << line;
  }
  EXPECT_TRUE(ended);
  EXPECT_GE(rows, 2U);
}

Chart marks_over_decades() {
  Chart chart{.name = "Decades & more",
              .title = kOddName,
              .x = {"size", Unit::bytes},
              .y = {"time", Unit::seconds},
              .series = {{.label = kOddName, .marks_only = true}, {.label = "other"}}};
  for (const double value : {1e-3, 1e-1, 1e1}) chart.series[0].points.push_back({.x = 3e6 * value, .y = value});
  chart.series[1].points = {{.x = 5e3, .y = 0.02, .low = 0.01, .high = 0.05, .deviation = 0.004, .words = "first"},
                            {.x = 7e6, .y = 4}};
  chart.limits = {{2.0, "at most <2> s"}, {1e6, "at most 1 MB", true}};
  chart.choose_scales();
  return chart;
}

/// Returns the positions of the marks of a series, in pixels.
std::vector<std::pair<double, double>> marks_of(const std::string& svg, const std::string& colour) {
  const std::regex mark(R"rx(translate\(([-\d.]+) ([-\d.]+)\)" d="[^"]*" fill="([^"]*)")rx");
  std::vector<std::pair<double, double>> places;
  for (std::sregex_iterator found(svg.begin(), svg.end(), mark), end; found != end; ++found)
    if ((*found)[3] == colour) places.emplace_back(std::stod((*found)[1]), std::stod((*found)[2]));
  return places;
}

/// Returns x, y and width of a chart's bars, in order.
std::vector<std::vector<double>> bars_of(const std::string& svg) {
  const std::regex bar(R"rx(<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="16.0")rx");
  std::vector<std::vector<double>> bars;
  for (std::sregex_iterator found(svg.begin(), svg.end(), bar), end; found != end; ++found)
    bars.push_back({std::stod((*found)[1]), std::stod((*found)[2]), std::stod((*found)[3])});
  return bars;
}

TEST(Plots, DrawsEqualFactorsAsEqualLengthsOnLogarithmicAxes) {
  const Chart chart = marks_over_decades();
  EXPECT_TRUE(chart.x.logarithmic && chart.y.logarithmic);
  const std::string svg = to_svg(chart);
  expect_well_formed(svg);
  std::vector<std::pair<double, double>> places = marks_of(svg, "#0072b2");
  ASSERT_GE(places.size(), 3U);
  for (double std::pair<double, double>::*way : {&std::pair<double, double>::first, &std::pair<double, double>::second})
    EXPECT_NEAR(places[1].*way - places[0].*way, places[2].*way - places[1].*way, 0.21) << "rounded to a tenth";
  EXPECT_GT(places[0].second, places[2].second) << "more is higher up";
  for (const char* tick : {">10 kB<", ">100 ms<", ">10 s<", "at most &lt;2&gt; s", "at most 1 MB"})
    EXPECT_NE(svg.find(tick), std::string::npos) << tick << svg;
  EXPECT_EQ(svg, to_svg(marks_over_decades()));
}

TEST(Plots, LeavesOutWhatALogarithmicAxisCannotShow) {
  Chart chart = marks_over_decades();
  const std::size_t before = marks_of(to_svg(chart), "#0072b2").size();
  chart.series[0].points.push_back({.x = 1e4, .y = 0});
  chart.series[0].points.push_back({.x = 1e4, .y = std::nan("")});
  EXPECT_EQ(marks_of(to_svg(chart), "#0072b2").size(), before);
}

TEST(Plots, StacksBarsToTheirSum) {
  Chart chart{.name = "parts",
              .title = "parts",
              .kind = Chart::Kind::stacked,
              .y = {"", Unit::seconds},
              .names = {"quick", "slow"}};
  chart.add_bars("computing", {0.5, 3});
  chart.add_bars("waiting", {1.5, 1});
  chart.choose_scales();
  EXPECT_FALSE(chart.y.logarithmic) << "lengths add up";
  const std::string svg = to_svg(chart);
  expect_well_formed(svg);
  const std::vector<std::vector<double>> bars = bars_of(svg);
  ASSERT_EQ(bars.size(), 4U);
  EXPECT_NEAR(bars[0][0] + bars[0][2], bars[2][0], 0.11) << "waiting begins where computing ends";
  EXPECT_NEAR((bars[0][2] + bars[2][2]) / (bars[1][2] + bars[3][2]), 0.5, 0.01) << "2 s and 4 s";
  EXPECT_NE(svg.find(">4.00 s<"), std::string::npos);
}

TEST(Plots, DrawsSpansFromTheirBeginnings) {
  const Chart chart{.name = "spans",
                    .title = "spans",
                    .kind = Chart::Kind::spans,
                    .y = {"time", Unit::seconds},
                    .names = {"first", "second"},
                    .series = {{"used", {{.x = 0, .y = 20, .begin = 10}, {.x = 1, .y = 40, .begin = 0}}},
                               {"late", {{.x = 0, .y = 40, .begin = 30}}}}};
  const std::string svg = to_svg(chart);
  expect_well_formed(svg);
  const std::vector<std::vector<double>> bars = bars_of(svg);
  ASSERT_EQ(bars.size(), 3U);
  EXPECT_NEAR(bars[0][2] / bars[1][2], 0.25, 0.01) << "10 s and 40 s";
  EXPECT_NEAR(bars[0][0] - bars[1][0], bars[0][2], 0.11) << "10 s after the beginning";
  EXPECT_NEAR(bars[2][0] - bars[0][0], 2 * bars[0][2], 0.11) << "20 s later";
  EXPECT_EQ(bars[2][1], bars[0][1]) << "a row of its own has each name, not each series";
  EXPECT_GT(bars[1][1], bars[0][1]);
}

TEST(Plots, WritesPointsAsCsv) {
  EXPECT_EQ(to_csv(marks_over_decades()),
            "series,size (B),time (s),low,high,deviation,point\n"
            "\"a <b> & \"\"c\"\" 50 % of #1_x $y$ \\end{tabular} ~^{}\",3000,0.001,,,,\n"
            "\"a <b> & \"\"c\"\" 50 % of #1_x $y$ \\end{tabular} ~^{}\",300000,0.1,,,,\n"
            "\"a <b> & \"\"c\"\" 50 % of #1_x $y$ \\end{tabular} ~^{}\",30000000,10,,,,\n"
            "other,5000,0.02,0.01,0.05,0.004,first\n"
            "other,7000000,4,,,,\n");
}

Document sample_document() {
  Document document;
  document.head.scenario_name = kOddName;
  document.charts = {marks_over_decades(), marks_over_decades()};
  DocumentTable runs;
  for (const double seconds : {0.25, 4000.0})
    runs.add_row()
        .add("run", "run & <label>", kOddName, Unit::text)
        .add("seconds", "a step\n(s)", seconds, Unit::seconds)
        .add("hidden", 1)
        .say("accuracy", "97.0 ± 0.2 …");
  document.parts.push_back({.name = "runs.all", .shown = Shown::page, .what = runs});
  document.parts.push_back({.name = "hidden", .what = runs});
  return document;
}

TEST(Plots, AreFilesWithDistinctPlainNames) {
  const std::vector<PlotFile> files = plots_of(sample_document());
  std::vector<std::string> names;
  for (const PlotFile& file : files) names.push_back(file.name);
  EXPECT_EQ(names, (std::vector<std::string>{"decades-more.svg", "decades-more.csv", "decades-more-2.svg",
                                             "decades-more-2.csv", "runs-all.tex", "runs-all.csv"}));
  EXPECT_EQ(summary_of(sample_document(), true).body, "") << "no terminal shows it";
}

TEST(Plots, WriteTablesAsCsvWithTheirValues) {
  DocumentTable table;
  table.add_row()
      .add("fits", "fits", true, Unit::plain)
      .add("set", std::vector<std::string>{"tensor=8", "batch=1"})
      .add("unknown", DocumentValue())
      .add("share", "share", 0.25, Unit::share)
      .say("in words", "a quarter");
  EXPECT_EQ(to_csv(table), "fits,set,unknown,share\ntrue,tensor=8 batch=1,,0.25\n");
  DocumentTable words;
  words.add_row().say("to 95 %, time", "1.50 s").say("steps", "–");
  EXPECT_EQ(to_csv(words), "\"to 95 %, time\",steps\n1.50 s,–\n");
}

TEST(Plots, WriteTablesThatLatexReads) {
  const std::vector<PlotFile> files = plots_of(sample_document());
  const std::string& latex = files.at(files.size() - 2).content;
  expect_latex_table(latex, 3);
  EXPECT_NE(latex.find("97.0 $\\pm$ 0.2 \\ldots{}"), std::string::npos) << latex;
  EXPECT_NE(latex.find("50 \\% of \\#1\\_x \\$y\\$ \\textbackslash{}end\\{tabular\\}"), std::string::npos) << latex;
  EXPECT_NE(latex.find("run \\& $<$label$>$ & a step (s)"), std::string::npos) << latex;
  if (std::system("command -v pdflatex >/dev/null 2>&1") != 0) return;
  const test::TemporaryFolder folder;
  folder.write("table.tex", latex);
  folder.write("paper.tex", "\\documentclass{article}\\begin{document}\\input{table}\\end{document}\n");
  const std::string command =
      "cd " + folder.path().string() + " && pdflatex -interaction=batchmode paper.tex >/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << latex;
}

}  // namespace
}  // namespace dadsim::report
