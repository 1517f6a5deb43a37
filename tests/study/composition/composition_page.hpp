#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "study/composition/composition.hpp"

namespace dadsim::study {

inline std::string counts_in_words(const Composition::Counts& counts) {
  return fmt::format(
      "{} of {} pairs answer; {} are refused because they have no meaning, {} because they are not built: {:.1f} % of "
      "the "
      "meaningful pairs answer",
      counts.answers, counts.all(), counts.means_nothing, counts.not_built, 100 * counts.share());
}

inline std::string cell_of(const Composition::Counts& counts) {
  if (counts.all() == 0) return "";
  return counts.not_built == 0 ? fmt::format("{}", counts.answers)
                               : fmt::format("{} ({})", counts.answers, counts.not_built);
}

/// Removes the method's name from a pair's refusal, so that pairs with the same reason share a row.
inline std::string reason_of(const FeaturePair& pair) {
  std::string text = pair.what;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace("algorithm=\"" + pair.method + "\" of <run> ", "");
  replace("run '" + pair.method + "'", "the run");
  replace("'" + pair.method + "'", "the method");
  replace(" of " + pair.method + ", ", " of the method, ");
  const std::string of_run = "the run: ";
  if (text.starts_with(of_run)) text.erase(0, of_run.size());
  return text;
}

/// Outcomes of one feature with all features of another axis.
struct Beside {
  std::vector<std::string> answers;
  /// refused features, by outcome, reason and remedy
  std::map<std::tuple<Composes, std::string, std::string>, std::vector<std::string>> refused;
};

/// Collects the pairs of a feature with the features of another axis.
inline Beside beside(const Composition& composition, std::size_t feature, const std::string& axis) {
  Beside all;
  for (const FeaturePair& pair : composition.pairs) {
    if (pair.a != feature && pair.b != feature) continue;
    const Feature& other = composition.features[pair.a == feature ? pair.b : pair.a];
    if (other.axis != axis) continue;
    if (pair.how == Composes::answers) {
      all.answers.push_back(other.name);
    } else {
      all.refused[{pair.how, reason_of(pair), pair.remedy}].push_back(other.name);
    }
  }
  return all;
}

inline std::string as_code(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) {
    std::string text = name;
    for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
      text.replace(at, 1, "\\|");
    quoted.push_back("`" + text + "`");
  }
  return fmt::format("{}", fmt::join(quoted, ", "));
}

inline std::string in_table(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"<", "\\<"}, {"|", "\\|"}}) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  return text;
}

/// Prints the refused pairs of features of two axes.
inline std::string section_of(const Composition& composition, const std::string& axis, const std::string& other) {
  std::string rows;
  for (std::size_t i = 0; i < composition.features.size(); ++i) {
    if (composition.features[i].axis != other) continue;
    const Beside all = beside(composition, i, axis);
    for (const auto& [why, names] : all.refused) {
      const auto& [how, what, remedy] = why;
      rows += fmt::format("| {} | {} | {} | {} | {} |\n", as_code({composition.features[i].name}),
                          names.size() > 6 && all.answers.empty() && all.refused.size() == 1 ? "all" : as_code(names),
                          how == Composes::not_built ? "not built" : "no meaning", in_table(what), in_table(remedy));
    }
  }
  if (rows.empty()) return {};
  const Composition::Counts counts = composition.counts(axis, other);
  return fmt::format("### {} × {}\n\n{}.\n\n| | beside | | refused | what would do |\n|---|---|---|---|---|\n{}\n",
                     axis, other, counts_in_words(counts), rows);
}

/// Prints docs/composition.md: per pair of axes the accepted pairs, then each refusal with its remedy.
inline std::string page_of(const Composition& composition) {
  std::string text = R"(# What goes with what

Two features of dadsim in one scenario *answer* together, or are refused: they have *no meaning* together, or are *not built*.
A test writes this page and compares it (`tests/study/composition/composition_test.cpp`): it makes a small scenario with both for every pair of features on
different axes and checks it, as `dadsim --check` does. The descriptions of methods list which methods a feature is about; a pair without a method answers if one
of these methods accepts it. Other tests draw pairs and run them.

)";
  const Composition::Counts counts = composition.counts();
  text += fmt::format("**{}.**\n\nWith devices per worker: **{}.**\n\n", counts_in_words(counts),
                      counts_in_words(composition.counts("devices per worker")));
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
    for (const Feature& feature : composition.features) {
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

}  // namespace dadsim::study
