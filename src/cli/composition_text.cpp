#include "cli/composition_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/text/grid.hpp"
#include "report/text/paragraph.hpp"

namespace dadsim::cli {
namespace {

using study::Composes;
using study::Composition;
using study::FeaturePair;

std::string counts_in_words(const Composition::Counts& counts) {
  return fmt::format(
      "{} of {} pairs answer; {} mean nothing and are refused, {} are not built and refused: {:.1f} % of what means "
      "something answers",
      counts.answers, counts.all(), counts.means_nothing, counts.not_built, 100 * counts.share());
}

std::string cell_of(const Composition::Counts& counts) {
  if (counts.all() == 0) return "";
  return counts.not_built == 0 ? fmt::format("{}", counts.answers)
                               : fmt::format("{} ({})", counts.answers, counts.not_built);
}

/// What is said of the pair, without the name of its method, so that pairs of one reason come together.
std::string reason_of(const FeaturePair& pair) {
  std::string text = pair.what;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace("algorithm=\"" + pair.method + "\" of <run> ", "");
  replace("'" + pair.method + "'", "it");
  replace(" of " + pair.method + ", ", " of it, ");
  const std::string of_run = "run it: ";
  if (text.starts_with(of_run)) text.erase(0, of_run.size());
  return text;
}

/// Features beside one, by what becomes of them.
struct Beside {
  std::vector<std::string> answers;
  /// By how it is refused, why, and what would do.
  std::map<std::tuple<Composes, std::string, std::string>, std::vector<std::string>> refused;
};

/// What stands beside a feature on the features of another axis.
Beside beside(const Composition& composition, std::size_t feature, const std::string& axis) {
  Beside all;
  for (const FeaturePair& pair : composition.pairs) {
    if (pair.a != feature && pair.b != feature) continue;
    const study::Feature& other = composition.features[pair.a == feature ? pair.b : pair.a];
    if (other.axis != axis) continue;
    if (pair.how == Composes::answers) {
      all.answers.push_back(other.name);
    } else {
      all.refused[{pair.how, reason_of(pair), pair.remedy}].push_back(other.name);
    }
  }
  return all;
}

std::string as_code(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) {
    std::string text = name;
    for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
      text.replace(at, 1, "\\|");
    quoted.push_back("`" + text + "`");
  }
  return fmt::format("{}", fmt::join(quoted, ", "));
}

std::string in_table(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"<", "\\<"}, {"|", "\\|"}}) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  return text;
}

/// Of two axes, every feature of the one beside which something of the other is refused.
std::string section_of(const Composition& composition, const std::string& axis, const std::string& other) {
  std::string rows;
  for (std::size_t i = 0; i < composition.features.size(); ++i) {
    if (composition.features[i].axis != other) continue;
    const Beside all = beside(composition, i, axis);
    for (const auto& [why, names] : all.refused) {
      const auto& [how, what, remedy] = why;
      rows += fmt::format("| {} | {} | {} | {} | {} |\n", as_code({composition.features[i].name}),
                          names.size() > 6 && all.answers.empty() && all.refused.size() == 1 ? "all" : as_code(names),
                          how == Composes::not_built ? "not built" : "means nothing", in_table(what), in_table(remedy));
    }
  }
  if (rows.empty()) return {};
  const Composition::Counts counts = composition.counts(axis, other);
  return fmt::format("### {} × {}\n\n{}.\n\n| | beside | | refused | what would do |\n|---|---|---|---|---|\n{}\n",
                     axis, other, counts_in_words(counts), rows);
}

bool names(const std::string& word, const study::Feature& feature) {
  return feature.name == word || feature.name.find(word) != std::string::npos || feature.axis == word;
}

}  // namespace

std::string table_of(const Composition& composition) {
  const std::vector<std::string> axes = composition.axes();
  std::vector<std::vector<std::string>> rows{{"pairs that answer (not built)"}};
  for (std::size_t i = 1; i < axes.size(); ++i) rows[0].push_back(axes[i].substr(0, axes[i].find(',')));
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
    std::vector<std::string>& row = rows.emplace_back(std::vector<std::string>{axes[i].substr(0, axes[i].find(','))});
    for (std::size_t j = 1; j < axes.size(); ++j)
      row.push_back(j > i ? cell_of(composition.counts(axes[i], axes[j])) : "");
  }
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < axes.size(); ++i) columns.push_back(i);
  return report::paragraph(counts_in_words(composition.counts()) + ".") + '\n' + report::grid(rows, columns);
}

std::string page_of(const Composition& composition) {
  std::string text = R"(# What goes with what

Two features of dadsim in one scenario *answer* together, *mean nothing* together and are refused, or are *not built* together and are refused.
This page is printed by `dadsim compose --page docs/composition.md`. Nothing of it is written by hand: a small scenario with both is made for every
pair of features on different axes and asked what is wrong with it, as `dadsim --check` does, and the descriptions of methods say which methods a
feature is about. A pair without a method answers if it does for one of these. `dadsim compose WORD WORD` says it of two features, `dadsim compose WORD` of all
beside one. The tests draw pairs and run them.

)";
  const Composition::Counts counts = composition.counts();
  text += fmt::format("**{}.**\n\n", counts_in_words(counts));
  const std::vector<std::string> axes = composition.axes();
  text += "Pairs that answer, and in brackets those that are not built:\n\n| |";
  for (std::size_t i = 1; i < axes.size(); ++i) text += fmt::format(" {} |", axes[i]);
  text += "\n|---|";
  for (std::size_t i = 1; i < axes.size(); ++i) text += "---|";
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
    text += fmt::format("\n| **{}** |", axes[i]);
    for (std::size_t j = 1; j < axes.size(); ++j)
      text += fmt::format(" {} |", j > i ? cell_of(composition.counts(axes[i], axes[j])) : "");
  }
  text += "\n\n## Features\n\n| axis | in a scenario |\n|---|---|\n";
  for (const std::string& axis : axes) {
    std::vector<std::string> of_axis;
    for (const study::Feature& feature : composition.features) {
      if (feature.axis == axis) of_axis.push_back(feature.name);
    }
    text += fmt::format("| {} | {} |\n", axis, as_code(of_axis));
  }
  text += "\n## What is refused\n\n";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = i + 1; j < axes.size(); ++j) text += section_of(composition, axes[i], axes[j]);
  }
  return text;
}

bool are_named(const std::vector<std::string>& words, const study::Feature& a, const study::Feature& b) {
  if (words.size() == 1) return names(words[0], a) || names(words[0], b);
  return (names(words[0], a) && names(words[1], b)) || (names(words[1], a) && names(words[0], b));
}

std::string pairs_in_words(const Composition& composition) {
  std::string text;
  for (const FeaturePair& pair : composition.pairs) {
    const study::Feature& a = composition.features[pair.a];
    const study::Feature& b = composition.features[pair.b];
    const bool by_method = !a.is_method() && !b.is_method();
    const std::string both = fmt::format("{} and {}", a.name, b.name);
    if (pair.how == Composes::answers) {
      text += report::paragraph(fmt::format("{}: answer{}", both, by_method ? ", with " + pair.method : ""));
    } else {
      text += report::paragraph(fmt::format("{}: {}: {}; {}", both,
                                            pair.how == Composes::not_built ? "not built" : "mean nothing", pair.what,
                                            pair.remedy));
    }
  }
  return text;
}

}  // namespace dadsim::cli
