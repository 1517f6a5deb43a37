// Tests for every note on a run when it is printed and when not. Runs use every method, with suitable and with far too
// large step sizes, learned and only timed.
#include "study/results/notes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <random>

#include "algorithms/registry.hpp"
#include "compress/registry.hpp"
#include "models/data/generated.hpp"
#include "protocols/registry.hpp"
#include "report/run/result_document.hpp"
#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

constexpr std::int64_t kBatch = 10;
constexpr std::int64_t kTrain = 90;  // three sites take three steps per epoch
constexpr std::int64_t kStepsOfEpoch = 3;
constexpr std::int64_t kEpochs = 8;  // more steps than are recorded for a run without learning

std::string scenario_of(const std::string& run, const std::string& rate, const std::string& batches = "equal") {
  return fmt::format(
      R"(<scenario name="drawn" seed="5">
  <platform><federation><sites name="c" count="3" up="20Mbps" down="100Mbps" latency="10ms"/></federation></platform>
  <workers><worker hosts="c-[1-3]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="{}" test="20"/></data>
  <model><dense units="8"/><dense units="10"/></model>
  <training batch="{}" epochs="{}" batches="{}"><sgd learning-rate="{}"/></training>
  {}
</scenario>)",
      kTrain, kBatch, kEpochs, batches, rate, run);
}

std::optional<scenario::Scenario> loaded(const std::string& text) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "drawn.xml").string();
  std::ofstream(path) << text;
  try {
    return scenario::load_scenario(path, {}, make_catalog());
  } catch (const InputError&) {
    return std::nullopt;  // the method needs other layers or other data
  }
}

/// A note, and the condition under which it must be printed.
struct Law {
  const char* kind;
  std::function<bool(const report::Result&, const report::RunResult&)> holds;
};

bool is_shared(const report::RunResult& run, algorithms::Sharing sharing) {
  return !run.spec.event_driven && algorithms::algorithm_registry().at(run.spec.algorithm).sharing == sharing;
}

const std::vector<Law>& laws() {
  using report::Result;
  using report::RunResult;
  static const std::vector<Law> all{
      {"event-order", [](const Result&, const RunResult& run) { return run.spec.event_driven; }},
      {"on-failure", [](const Result&, const RunResult& run) { return run.spec.event_driven; }},
      {"absence",
       [](const Result&, const RunResult& run) { return run.event_driven.has_value() && !run.spec.event_driven; }},
      {"pooling", [](const Result&, const RunResult& run) { return is_shared(run, algorithms::Sharing::pooled); }},
      {"own-networks",
       [](const Result& result, const RunResult& run) {
         return is_shared(run, algorithms::Sharing::own_weights) ||
                (!result.timing_only && is_shared(run, algorithms::Sharing::no_sharing));
       }},
      {"compression",
       [](const Result&, const RunResult& run) {
         return !compress::compressors().at(run.spec.compress.method).lossless;
       }},
      {"divergence",
       [](const Result& result, const RunResult& run) {
         const double end = run.curve.back().loss;
         return !result.timing_only && (!std::isfinite(end) || end > 10 * run.curve.front().loss);
       }},
      {"at-chance",
       [](const Result& result, const RunResult& run) {
         const std::vector<std::int32_t> labels = models::draw_digits(kTrain, 20, 5).labels;
         double most = 0;
         double entropy = 0;
         for (std::int32_t digit = 0; digit < 10; ++digit) {
           const double share = static_cast<double>(std::ranges::count(labels, digit)) / 20;
           most = std::max(most, share);
           if (share > 0) entropy -= share * std::log(share);
         }
         return !result.timing_only && !run.divergence && run.steps > 0 && run.curve.back().loss > 0.95 * entropy &&
                run.final_accuracy <= most + 2 * std::sqrt(most * (1 - most) / 20);
       }},
      {"no-barrier", [](const Result&, const RunResult& run) { return !run.first_steps.empty(); }},
      {"idle-compression",
       [](const Result&, const RunResult& run) { return run.is_lossy.has_value() && !*run.is_lossy; }},
      {"idle-recomputation", [](const Result&, const RunResult&) { return false; }},  // drawn runs recompute nothing
      {"censored-ranks", [](const Result&, const RunResult& run) { return run.censored_layers > 0; }},
      {"above-peak",
       [](const Result&, const RunResult& run) {
         return run.throughput && run.throughput->model_flops_utilisation.value_or(0) > 1;
       }},
      {"tight-memory",
       [](const Result&, const RunResult& run) {
         return run.device_memory > 0 && 1.1 * run.memory.total() > run.device_memory;
       }},
      {"leak-of-sample", [](const Result&, const RunResult& run) { return run.leak && !run.leak->sampled.empty(); }},
      {"layer-statistics", [](const Result&, const RunResult& run) { return !run.statistics.empty(); }},
  };
  return all;
}

void expect_lawful(const report::Result& result) {
  const std::string table = to_table(document_of(result));
  bool some_diverged = false;
  for (const report::RunResult& run : result.runs) {
    SCOPED_TRACE(run.spec.label + (result.timing_only ? ", only timed" : ""));
    for (const Law& law : laws()) {
      const auto said = std::ranges::count(run.notes, law.kind, &report::Statement::kind);
      EXPECT_EQ(said, law.holds(result, run) ? 1 : 0) << law.kind;
    }
    // A run may also have one remark on its algorithm and one assumption about ranks; every other note has a law above.
    const bool may_remark = run.spec.event_driven  // a method that adds noise remarks on the privacy spent
                                ? protocols::protocol_registry().at(run.spec.algorithm).perturbs
                                : algorithms::algorithm_registry().at(run.spec.algorithm).remark || result.timing_only;
    const auto others = std::ranges::count_if(run.notes, [](const report::Statement& note) {
      return std::ranges::none_of(laws(), [&](const Law& law) { return note.kind == law.kind; });
    });
    const auto remarks = std::ranges::count(run.notes, std::string("remark"), &report::Statement::kind);
    const auto at_cap = std::ranges::count(run.notes, std::string("ranks-at-cap"), &report::Statement::kind);
    EXPECT_LE(remarks, may_remark ? 1 : 0) << report::in_words(run.notes.back());
    EXPECT_LE(at_cap, result.timing_only && !run.spec.event_driven ? 1 : 0) << report::in_words(run.notes.back());
    EXPECT_EQ(others, remarks + at_cap) << report::in_words(run.notes.back());
    for (const std::string& note : report::in_words(run.notes)) {
      EXPECT_EQ(note.find("assumed at their cap") != std::string::npos && !result.timing_only, false) << note;
      if (result.timing_only) {
        EXPECT_EQ(note.find("accuracy"), std::string::npos) << note;
        EXPECT_EQ(note.find("learned as"), std::string::npos) << note;
      }
    }
    some_diverged = some_diverged || run.divergence.has_value();
    const auto diverged = std::ranges::find(laws(), std::string("divergence"), &Law::kind);
    EXPECT_EQ(run.divergence.has_value(), diverged->holds(result, run));
  }
  EXPECT_EQ(table.find("diverged") != std::string::npos, some_diverged) << table;
  EXPECT_EQ(to_json(document_of(result)).find("\"diverged\": true") != std::string::npos, some_diverged);
}

/// Draws `count` methods.
template <class Methods>
std::vector<std::string> drawn(const Methods& methods, std::uint32_t seed, std::size_t count) {
  std::vector<std::string> all;
  for (const auto& one : methods.all()) all.push_back(one.name);
  std::mt19937 random(seed);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
  all.resize(std::min(count, all.size()));
  return all;
}

class Notes : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Notes, AreSaidWhereTheirLawHoldsAndNowhereElse) {
  constexpr std::size_t kOfEachWorld = 7;
  std::vector<std::string> methods = drawn(algorithms::algorithm_registry(), GetParam(), kOfEachWorld);
  for (std::string& name : drawn(protocols::protocol_registry(), GetParam(), kOfEachWorld))
    methods.push_back(std::move(name));
  std::size_t runs = 0;
  std::mt19937 random(GetParam());
  for (const std::string& method : methods) {
    const char* rate = random() % 2 == 0 ? "0.05" : "1e6";
    const std::string compress = random() % 3 == 0 ? "<compress method=\"top-k\" fraction=\"0.1\"/>" : "";
    std::optional<scenario::Scenario> scenario =
        loaded(scenario_of(fmt::format("<run algorithm=\"{}\">{}</run>", method, compress), rate));
    if (!scenario) scenario = loaded(scenario_of(fmt::format("<run algorithm=\"{}\"/>", method), rate));
    if (!scenario) continue;
    scenario->timing_only = random() % 4 == 0;
    try {
      expect_lawful(run_experiment(*scenario, false));
      ++runs;
    } catch (const InputError&) {
      // Methods whose steps depend on learned numbers cannot be timed without learning.
    }
  }
  EXPECT_GT(runs, kOfEachWorld);
}

INSTANTIATE_TEST_SUITE_P(Drawn, Notes, testing::Range(1U, 7U));

std::vector<std::string> notes_on(const std::string& run, const char* rate, bool timing_only = false,
                                  const char* batches = "equal") {
  std::optional<scenario::Scenario> scenario = loaded(scenario_of(run, rate, batches));
  if (!scenario) return {"it was not loaded"};
  scenario->timing_only = timing_only;
  const report::Result result = run_experiment(*scenario, false);
  expect_lawful(result);
  return report::in_words(result.runs.front().notes);
}

bool says(const std::vector<std::string>& notes, const std::string& words) {
  return std::ranges::any_of(notes, [&](const auto& note) { return note.find(words) != std::string::npos; });
}

TEST(NotesOnRecomputation, SayThatFusedAttentionKeepsNoScores) {
  const auto told = [](const char* attention, const char* again) {
    const std::string text = fmt::format(R"(<scenario name="again" seed="1">
  <platform><gpu-cluster nodes="1" gpus="2" inside="nvlink-4" nic="ib-ndr"><one-switch/></gpu-cluster></platform>
  <workers><worker hosts="gpu-[0-1]" device="h100-sxm5"/></workers>
  <timing-only/>
  <timed-as workload="bert-base" batch="4" precision="bf16" attention="{}" recompute="selective"{}/>
  <run algorithm="gradient-sharing" exchange="peer"/>
</scenario>)",
                                         attention, again);
    const test::TemporaryFolder folder;
    const std::string path = folder.write("again.xml", text);
    const report::Result result = run_experiment(scenario::load_scenario(path, {}, make_catalog()), false);
    return std::ranges::count(result.runs.front().notes, "idle-recomputation", &report::Statement::kind);
  };
  EXPECT_EQ(told("flash", ""), 1);
  EXPECT_EQ(told("plain", ""), 0);
  EXPECT_EQ(told("flash", R"( recompute-modules="norms")"), 0);
}

/// Two kinds of run once lacked this note: event-driven runs whose loss became NaN, and learned-first runs that
/// diverged in their last step.
TEST(NotesOnDivergence, ArePartOfBothWorlds) {
  for (const char* method : {"fedavg", "scaffold", "gradient-sharing", "d-psgd", "no-sharing", "async-sgd"}) {
    const std::string run = fmt::format("<run algorithm=\"{}\"/>", method);
    EXPECT_TRUE(says(notes_on(run, "1e6"), "diverged: ")) << method;
    EXPECT_FALSE(says(notes_on(run, "1e6", true), "diverged")) << method << ", only timed";
    EXPECT_FALSE(says(notes_on(run, "0.05"), "diverged")) << method << ": the remedy that is named";
  }
}

/// Without a note, a reader would attribute an accuracy of 10 % to the algorithm.
TEST(NotesAtChance, SayWhatTheLossAsksFor) {
  for (const char* method : {"fedavg", "gradient-sharing", "d-psgd", "no-sharing"}) {
    const std::string run = fmt::format("<run algorithm=\"{}\"/>", method);
    EXPECT_TRUE(says(notes_on(run, "1e-9"), "ends at chance: ")) << method;
    EXPECT_TRUE(says(notes_on(run, "1e-9"), "so use more epochs or a larger learning-rate")) << method;
    EXPECT_FALSE(says(notes_on(run, "1e-9", true), "chance")) << method << ", only timed";
    if (method != std::string("no-sharing")) {
      EXPECT_FALSE(says(notes_on(run, "0.3"), "chance")) << method;
    }
  }
}

/// The privacy spent covers all steps of the training, also if only some are recorded.
TEST(NotesOnPrivacy, AreOfAllStepsWhereNothingIsLearned) {
  const std::string run = R"(<run algorithm="dp-sgd" clip="1.5" noise-multiplier="1.3" delta="1e-5"/>)";
  const auto spent = [&](bool timing_only) {
    std::vector<std::string> notes = notes_on(run, "0.05", timing_only, "poisson");
    std::erase_if(notes, [](const std::string& note) { return note.find("spent ε = ") == std::string::npos; });
    return notes;
  };
  EXPECT_TRUE(says(spent(false), fmt::format(" in {} steps", kEpochs * kStepsOfEpoch)));
  EXPECT_EQ(spent(true), spent(false));
  // If the number of examples is only a placeholder, the spent ε is unknown.
  const std::optional<scenario::Scenario> stand_in = loaded(
      R"(<scenario name="stands for" seed="1">
  <platform><gpu-cluster nodes="2" gpus="1" nic="roce-100"/></platform>
  <workers><worker hosts="gpu-[0-1]" device="h100-sxm5"/></workers>
  <timing-only/>
  <training><sgd/></training>
  <timed-as workload="resnet-18" batch="2"/>
  <run algorithm="dp-sgd"/>
</scenario>)");
  ASSERT_TRUE(stand_in);
  const std::vector<std::string> notes = report::in_words(run_experiment(*stand_in, false).runs.front().notes);
  EXPECT_TRUE(says(notes, "the spent ε is not known"));
  EXPECT_FALSE(says(notes, "spent ε = "));
}

/// Winograd kernels for 3 × 3 convolutions in fp32 need fewer multiplications than are counted. A rate above the peak
/// has a note.
TEST(NotesOnThePeak, SayWhyItIsPassed) {
  const auto vgg = [](const char* precision, const char* device) {
    const std::optional<scenario::Scenario> scenario = loaded(fmt::format(
        R"(<scenario name="VGG-16" seed="1">
  <platform><gpu-cluster nodes="1" gpus="1" nic="ethernet-10g"/></platform>
  <workers><worker hosts="gpu-0" device="{}"/></workers>
  <timing-only/>
  <training><sgd/></training>
  <timed-as workload="vgg-16" batch="32" precision="{}"/>
  <run algorithm="gradient-sharing" exchange="peer"/>
</scenario>)",
        device, precision));
    return run_experiment(scenario.value(), false);
  };
  const report::Result above = vgg("fp32", "v100-sxm2-32");
  ASSERT_GT(above.runs.front().throughput->model_flops_utilisation.value(), 1);
  EXPECT_TRUE(says(report::in_words(above.runs.front().notes), "Winograd")) << "beside the run";
  EXPECT_NE(to_table(document_of(above)).find("peak (3 × 3"), std::string::npos) << "beside the number";
  expect_lawful(above);
  const report::Result below = vgg("fp16", "v100-sxm2-32");
  ASSERT_LT(below.runs.front().throughput->model_flops_utilisation.value(), 1);
  EXPECT_EQ(to_table(document_of(below)).find("Winograd"), std::string::npos);
  expect_lawful(below);
}

}  // namespace
}  // namespace dadsim::study
