// Explains every shipped scenario, and checks the bottlenecks in its JSON against the what-ifs there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>

#include "quick_kernels.hpp"
#include "report/explain/explanation.hpp"
#include "scenario/document/load.hpp"
#include "study/explain/explain.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

using Json = nlohmann::json;

const std::filesystem::path kShipped = DADSIM_SOURCE_DIR "/scenarios";

/// Overrides that shrink a scenario: fewer machines, fewer rounds, a smaller network of the same kind.
const std::map<std::string, std::vector<std::string>> kShrunk{
    {"bert-1024", {"workers.worker.hosts=gpu-[0-15]", "timed-as.workload=bert-base", "data.digits.train=1024"}},
    {"compression", {"training.epochs=0.02", "data.digits.test=200"}},
    {"drift", {"training.epochs=0.2", "data.digits.test=200", "run[*].duration=1800", "run[*].interval=1"}},
    {"gossip", {"training.epochs=0.1", "workers.worker.hosts=site-[1-4]"}},
    {"failures", {"training.epochs=0.1", "run[1].rounds=8", "run[2].rounds=8"}},
    {"flexible", {"training.epochs=0.06"}},
    {"flexible-vit", {"workers.worker.hosts=site-[1-2]", "timed-as.workload=resnet-18", "training.epochs=0.1"}},
    {"hospitals-federated", {"training.epochs=0.4", "data.digits.train=2000", "data.digits.test=200"}},
    {"fleet", {"training.epochs=1", "run[3].rounds=2", "run[5].rounds=2"}},
    {"islands",
     {"workers.worker.hosts=a.gpu-[0-7] b.gpu-[0-7] c.gpu-[0-7] d.gpu-[0-7]", "timed-as.batch=2", "training.epochs=1"}},
    {"internet-72b", {"training.epochs=6", "timed-as.batch=16"}},
    {"imagenet", {"timed-as.workload=resnet-18", "training.epochs=0.2"}},
    {"imagenet-ladder", {"timed-as.workload=resnet-18"}},
    {"gpt-175b",
     {"platform.gpu-cluster.nodes=2", "workers.worker.hosts=gpu-[0-15]", "workers.memory=ignore",
      "timed-as.workload=gpt-2-medium", "timed-as.batch=2", "timed-as.tensor=4", "timed-as.pipeline=2"}},
    {"gpt2-medium", {"platform.gpu-cluster.nodes=2", "workers.worker.hosts=gpu-[0-15]"}},
    {"paper-gru", {"training.epochs=0.25"}},
    {"paper-gru-motions", {"training.epochs=1"}},
    {"paper-mnist", {"training.epochs=0.045", "data.idx.train=4000", "data.idx.test=500"}},
    {"paper-mnist-authors", {"training.epochs=0.004"}},
    {"paper-mnist-compressed", {"training.epochs=0.05"}},
    {"paper-vit", {"training.epochs=0.06"}},
    {"phones", {"workers.worker[1].hosts=phone-[1-8]", "workers.worker[2].hosts=tablet-[1-2]", "training.epochs=0.1"}},
    {"scale-study", {"training.stop=budget", "training.epochs=0.1"}},
    {"scale-study-cifar", {"training.stop=budget", "training.epochs=0.1"}},
    {"scale-study-mnist", {"training.stop=budget", "training.epochs=0.1"}},
    {"scale-study-text", {"training.stop=budget", "training.epochs=0.02"}},
    {"unequal-gpus",
     {"platform.gpu-cluster.nodes=1", "workers.worker.hosts=gpu-[0-7]", "timed-as.workload=gpt-2-small",
      "timed-as.sequence=1024"}},
    {"stragglers", {"workers.worker.hosts=client-[1-8]", "training.epochs=0.1"}},
};

/// Scenarios in which the sizes of messages depend on learned values.
const std::set<std::string> kLearned{"compression", "drift", "hospitals-federated"};

/// Scenarios with the same bottlenecks as another scenario here: the perceptron of paper-mnist.xml on equal lines, and
/// further platforms of the testbed. They are explained only with DADSIM_ALL_DRAWN.
const std::set<std::string> kLikeAnother{"paper-mnist-authors", "paper-mnist-ranks", "paper-mnist-small",
                                         "testbed-train-0ms", "testbed-train-5ms"};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(kShipped)) {
    if (entry.path().extension() != ".xml") continue;
    const std::string name = entry.path().stem().string();
    if (std::getenv("DADSIM_ALL_DRAWN") != nullptr || !kLikeAnother.contains(name)) all.push_back(name);
  }
  std::ranges::sort(all);
  return all;
}

/// Sets the variable for the folder of published data, unless it is set already.
void name_folder_with_data() {
  if (std::getenv("DADSIM_DATA") != nullptr) return;
  const std::filesystem::path beside = std::filesystem::path(DADSIM_SOURCE_DIR).parent_path() / "shared" / "data";
  if (std::filesystem::exists(beside)) setenv("DADSIM_DATA", beside.c_str(), 1);
}

/// Keeps one run of each algorithm and compressor, since runs that differ only in a parameter have the same
/// bottlenecks. With DADSIM_ALL_DRAWN, keeps all.
void keep_one_of_each(std::vector<spec::RunSpec>& runs) {
  if (std::getenv("DADSIM_ALL_DRAWN") != nullptr) return;
  std::set<std::pair<std::string, std::string>> kept;
  std::erase_if(runs, [&](const spec::RunSpec& run) {
    return !kept.insert({run.algorithm, run.compress.method}).second;
  });
}

/// Returns the result of `dadsim explain --json`, with steps recorded without learning; empty if data are missing.
std::optional<Json> explained(const std::string& name) {
  const test::QuickKernels quick;
  const auto shrunk = kShrunk.find(name);
  try {
    scenario::Scenario scenario =
        load_scenario((kShipped / (name + ".xml")).string(),
                      shrunk == kShrunk.end() ? std::vector<std::string>() : shrunk->second, make_catalog());
    scenario.timing_only = !kLearned.contains(name);
    keep_one_of_each(scenario.runs);
    scenario = as_explained(scenario);
    return Json::parse(
        to_json(document_of(explain_scenario(scenario, learn_scenario(scenario, nullptr, false), false))));
  } catch (const InputError& error) {
    if (std::string(error.what()).find("DADSIM_DATA") == std::string::npos) throw;
    return std::nullopt;
  }
}

/// Returns the what-if with this index; null if there is none.
const Json* tried(const Json& run, const Json& index) {
  const Json& all = run["what_if"];
  return index.is_number() && index.get<std::size_t>() < all.size() ? &all[index.get<std::size_t>()] : nullptr;
}

/// Returns true if the changed part `on` matches `pattern`, apart from numbers and directions.
bool speaks_of(const std::string& on, const std::string& pattern) {
  if (on == "*") return true;
  const auto letters = [](std::string text) {
    text = std::regex_replace(text, std::regex("_(UP|DOWN)$"), "");
    return std::regex_replace(text, std::regex("[0-9]+"), "#");
  };
  return letters(pattern) == letters(on) || pattern.ends_with("(" + on + ")");
}

/// Returns the causes of a run that no what-if confirms, and for which the text gives no reason either.
std::vector<std::string> unconfirmed(const Json& run) {
  std::vector<std::string> wrong;
  for (const Json& cause : run["causes"]) {
    const std::string kind = cause["kind"];
    for (const Json& part : cause["on"]) {
      const double share = part["share"];
      if (share < 0.01) continue;
      const std::string what = run["label"].get<std::string>() + ": " + kind + " of " + part["pattern"].dump();
      if (part["tried"].is_null()) {
        if (part["why_not"].is_null()) wrong.push_back(what + " was not tried, and nothing says why");
        if (kind == "bandwidth" || kind == "latency") wrong.push_back(what + " was not tried");
        continue;
      }
      const Json* change = tried(run, part["tried"]);
      if (change == nullptr) {
        wrong.push_back(what + ": what was tried is not among the what-ifs");
        continue;
      }
      // Latency is exempt, since a route consists of links of several kinds.
      if (kind != "latency" && !speaks_of((*change)["on"], part["pattern"]))
        wrong.push_back(what + ": another one was tried");
      if ((*change)["saving"] != part["saving_if_twice_as_fast"]) wrong.push_back(what + " saves something else");
      if (kind == "bandwidth" && (*change)["kind"] != "bandwidth") wrong.push_back(what + ": of another kind");
      // Doubling the speed can save at most half of a share; saving a quarter of that half confirms the cause.
      const double saving = (*change)["saving"];
      if (saving < share / 8 && part["why_not"].is_null()) wrong.push_back(what + " saves next to nothing");
      // A reason that names a change must quote the saving of that change.
      const Json& why = part["why_not"];
      if (why.is_null() || !why.contains("parts")) continue;
      const auto named =
          std::ranges::find_if(run["what_if"], [&](const Json& other) { return other["change"] == why["parts"][0]; });
      if (named == run["what_if"].end() || (*named)["saving"] != why["values"]["saving"])
        wrong.push_back(what + ": the reason has another number: " + why.dump());
    }
  }
  for (const Json& index : run["most_useful"]) {
    const Json* best = tried(run, index);
    if (best == nullptr || (*best)["saving"] < 0.01) wrong.push_back("advice that is useless: " + index.dump());
  }
  return wrong;
}

class ExplainedScenario : public testing::TestWithParam<std::string> {};

TEST_P(ExplainedScenario, ConfirmsWhatItNamesOrSaysWhyNot) {
  name_folder_with_data();
  const std::optional<Json> json = explained(GetParam());
  if (!json) GTEST_SKIP() << "its data are published elsewhere; DADSIM_DATA names a folder with them";
  ASSERT_FALSE((*json)["runs"].empty());
  for (const Json& run : (*json)["runs"]) {
    EXPECT_EQ(unconfirmed(run), std::vector<std::string>());
    EXPECT_FALSE(run["what_if"].empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, ExplainedScenario, testing::ValuesIn(names()), [](const auto& scenario) {
  std::string name = scenario.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

/// The check itself must find errors that were planted.
TEST(ExplainedScenarioCheck, FindsWhatIsUnconfirmed) {
  const std::optional<Json> json = explained("hospitals");
  ASSERT_TRUE(json);
  std::size_t emptied = 0;
  for (Json run : (*json)["runs"]) {
    for (Json& cause : run["causes"]) {
      for (Json& part : cause["on"]) {
        if (part["share"] < 0.01 || part["why_not"].is_null()) continue;
        part["why_not"] = nullptr;
        ++emptied;
      }
    }
    const bool some = std::ranges::any_of(run["causes"], [](const Json& cause) {
      return std::ranges::any_of(cause["on"], [](const Json& part) {
        return part["share"] >= 0.01 && !part["saving_if_twice_as_fast"].is_null() &&
               part["saving_if_twice_as_fast"] < part["share"].template get<double>() / 8;
      });
    });
    EXPECT_EQ(!unconfirmed(run).empty(), some) << run["label"];
  }
  EXPECT_GT(emptied, 0U);
}

}  // namespace
}  // namespace dadsim::study
