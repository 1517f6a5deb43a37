#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/chosen_runs.hpp"
#include "cli/process.hpp"
#include "quick_kernels.hpp"
#include "support/data_folder.hpp"
#include "support/temporary_folder.hpp"

// Tests claims of papers: runs scenarios of scenarios/claims/ and compares the verdicts with a page. A claim is a table
// row of docs/paper.md that begins with the claim's name in backticks and has the verdict in italics.
namespace dadsim::test {

/// Settings for running a claim's scenario.
struct ClaimQuestion {
  int seeds = 1;  ///< number of seeds, from 1 on
  std::vector<std::string> changes = {};
  std::set<std::string> runs = {};  ///< labels of runs; empty: all runs
  std::filesystem::path data = {};
};

/// Runs of a scenario by label, with one run per seed.
class ClaimRuns {
 public:
  using Figure = std::function<double(const nlohmann::json& run)>;

  /// Runs scenarios/NAME.xml with all seeds.
  explicit ClaimRuns(const std::string& name, const ClaimQuestion& question = {}) {
    const QuickKernels quick;
    const TemporaryFolder folder;
    const std::string file = question.runs.empty() ? "scenarios/" + name + ".xml"
                                                   : folder.write("claim.xml", with_runs(name, question.runs));
    for (int seed = 1; seed <= question.seeds; ++seed) {
      std::vector<std::string> arguments{file, "--quiet", "--json", "-", "--seed", std::to_string(seed)};
      for (const std::string& change : question.changes) arguments.insert(arguments.end(), {"--set", change});
      std::map<std::string, std::string> environment;
      if (!question.data.empty()) environment["DADSIM_DATA"] = question.data.string();
      const Outcome outcome = run_dadsim(arguments, DADSIM_SOURCE_DIR, {}, environment);
      if (outcome.exit_code != 0) throw std::runtime_error(name + ": " + outcome.err);
      results_.push_back(nlohmann::json::parse(outcome.out));
      for (const nlohmann::json& run : results_.back()["runs"]) runs_[run["label"].get<std::string>()].push_back(run);
    }
  }

  const std::vector<nlohmann::json>& of(const std::string& label) const { return runs_.at(label); }
  const nlohmann::json& result(std::size_t seed) const { return results_.at(seed); }

  /// Returns the mean of a figure over the seeds.
  double mean(const std::string& label, const Figure& figure) const {
    double sum = 0;
    for (const nlohmann::json& run : of(label)) sum += figure(run);
    return sum / static_cast<double>(of(label).size());
  }
  double mean(const std::string& label, const std::string& figure) const {
    return mean(label, [&](const nlohmann::json& run) { return run.at(figure).get<double>(); });
  }
  double accuracy(const std::string& label) const { return mean(label, "final_accuracy"); }
  double bytes(const std::string& label) const { return mean(label, "bytes_up_per_worker"); }

 private:
  std::vector<nlohmann::json> results_;
  std::map<std::string, std::vector<nlohmann::json>> runs_;
};

/// Returns the verdict on a claim in docs/paper.md: "holds", "does not hold" or "undecided here"; empty if the page
/// lacks the claim.
inline std::string documented_verdict(const std::string& claim) {
  static const std::string page = read_file(DADSIM_SOURCE_DIR "/docs/paper.md");
  const std::regex row("\\| `" + claim + "` \\|[^\\n]*\\| \\*([a-z ]+)\\* \\|");
  std::smatch match;
  return std::regex_search(page, match, row) ? match[1].str() : "";
}

inline std::string verdict(bool holds) { return holds ? "holds" : "does not hold"; }

}  // namespace dadsim::test
