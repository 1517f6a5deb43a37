// Compares measured jobs of 2025 and 2026 (jobs-2026.csv) with predictions of scenarios from their rows
// (docs/validation.md). Tests predict a sample of the rows. All rows are predicted when the tables are written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

using Job2026 = std::map<std::string, std::string>;

std::int64_t setting_of(const Job2026& row, const std::string& name, std::int64_t otherwise) {
  for (const std::string& setting : test::split(row.at("timed_as"), ' ')) {
    if (setting.starts_with(name + "=")) return std::stoll(setting.substr(name.size() + 1));
  }
  return otherwise;
}

/// Returns true for a setting that is a path of --set, outside <timed-as>.
bool is_path(const std::string& setting) { return setting.find('.') < setting.find('='); }

std::vector<std::string> paths_in(const std::string& settings) {
  std::vector<std::string> paths = test::split(settings, ' ');
  std::erase_if(paths, [](const std::string& setting) { return !is_path(setting); });
  return paths;
}

std::string as_attributes(const std::string& settings) {
  std::string text;
  for (const std::string& setting : test::split(settings, ' ')) {
    const std::size_t equals = setting.find('=');
    if (is_path(setting)) continue;
    text += fmt::format(" {}=\"{}\"", setting.substr(0, equals), setting.substr(equals + 1));
  }
  return text;
}

std::string scenario_text(const Job2026& row, std::int64_t batch, const char* fidelity) {
  return fmt::format(
      R"(<scenario name="{}" seed="1"><platform><gpu-cluster{}/></platform>
         <workers memory="ignore"><worker hosts="gpu-[0-{}]" device="{}"/></workers><network fidelity="{}"/>
         <timing-only/><training><adamw/></training><timed-as{} batch="{}"/>
         <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
      row.at("case"), as_attributes(row.at("platform")), std::stoll(row.at("gpus")) - 1, row.at("device"), fidelity,
      as_attributes(row.at("timed_as")), batch);
}

struct Predicted2026 {
  double seconds = 0;
  std::string parts;
};

/// Predicts the step of a job with this batch. Rows of the same job in several containers share the prediction.
Predicted2026 predicted_step(const Job2026& row, std::int64_t batch) {
  static std::map<std::string, Predicted2026> known;
  Job2026 job = row;
  job["case"] = "job";
  const std::string text = scenario_text(job, batch, "flow");
  const auto [found, added] = known.try_emplace(text + row.at("timed_as"));
  if (added) {
    const scenario::Scenario scenario =
        scenario::ScenarioSource("row.xml", text).load(paths_in(row.at("timed_as")), study::make_catalog());
    const report::RunResult run = study::run_experiment(scenario, false).runs.front();
    found->second = {run.step_seconds, test::parts_in_words(run.step_band.value().parts)};
  }
  return found->second;
}

/// Predicts a step of many micro-batches from a shorter step: once the pipeline is full, each further micro-batch takes
/// equally long. With several model chunks per stage, the unit is one micro-batch per stage.
Predicted2026 predict_2026(const Job2026& row, bool draws_out = true) {
  const std::int64_t batch = std::stoll(row.at("batch"));
  const std::int64_t micro = setting_of(row, "micro-batch", batch);
  const std::int64_t stages = setting_of(row, "pipeline", 1);
  const std::int64_t first = 2 * stages;
  const std::int64_t further = stages;
  const std::int64_t count = batch / micro;
  if (!draws_out || count <= first + further) {
    return predicted_step(row, batch);
  }
  const double less = predicted_step(row, first * micro).seconds;
  const Predicted2026 more = predicted_step(row, (first + further) * micro);
  const auto rounds = static_cast<double>(count - first) / static_cast<double>(further);
  return {less + rounds * (more.seconds - less), more.parts};
}

/// Returns the largest number of GPUs to predict. With DADSIM_GPUS, larger rows keep their predictions while tables are
/// written.
int most_gpus() {
  const char* said = std::getenv("DADSIM_GPUS");
  return said == nullptr ? std::numeric_limits<int>::max() : std::stoi(said);
}

std::string named(const Job2026& row) { return fmt::format("{} gpus {}", row.at("case"), row.at("gpus")); }

void validate_jobs_of_2026(const std::string& name, double bound) {
  const bool writes = std::getenv("DADSIM_WRITE_VALIDATION") != nullptr;
  const std::string table_name = "jobs-2026-" + name;
  std::map<std::string, test::ResidualRow> known;
  for (test::ResidualRow& row : test::residual_rows()) {
    if (row.table == table_name) known[row.what] = std::move(row);
  }
  test::Residuals residuals(table_name);
  test::DocumentedTable table(table_name, {"job", "GPUs", "predicted ms", "measured ms", "error"});
  std::vector<test::Compared> all;
  int sampled = 0;
  int missing = 0;
  for (const Job2026& row : test::measured("jobs-2026")) {
    if (row.at("table") != name) continue;
    Predicted2026 predicted;
    const bool anew = writes && std::stoi(row.at("gpus")) <= most_gpus();
    if (anew || row.at("sampled") == "yes") {
      predicted = predict_2026(row);
      ++sampled;
    } else if (const auto found = known.find(named(row)); found != known.end()) {
      predicted = {found->second.seconds.predicted, found->second.parts};
    } else {
      // A large job that has no prediction until scripts/validation predicts it.
      table.add({row.at("case"), row.at("gpus"), "", fmt::format("{:.0f}", 1e3 * std::stod(row.at("seconds"))), ""});
      ++missing;
      continue;
    }
    const double measured = std::stod(row.at("seconds"));
    all.push_back({predicted.seconds, measured});
    residuals.add(named(row), "predicted", predicted.parts, all.back());
    table.add({row.at("case"), row.at("gpus"), fmt::format("{:.0f}", 1e3 * predicted.seconds),
               fmt::format("{:.0f}", 1e3 * measured), test::percent(all.back().error())});
  }
  const std::string of_all = missing > 0 ? fmt::format(" of {}", all.size() + static_cast<std::size_t>(missing)) : "";
  table.add({"mean", fmt::format("{}{} rows", all.size(), of_all), "", "",
             fmt::format("{:.1f} %", 100 * test::mean_absolute_error(all))});
  EXPECT_GE(sampled, 2);
  EXPECT_LE(test::mean_absolute_error(all), bound) << name;
  table.expect_in_document();
  residuals.expect_in_file();
}

TEST(JobsOf2026, FullyShardedInGroups) { validate_jobs_of_2026("modalities", 0.18); }
TEST(JobsOf2026, OptimizerShardedInGroups) { validate_jobs_of_2026("internevo", 0.12); }
TEST(JobsOf2026, MegatronBridge) { validate_jobs_of_2026("megatron-bridge", 0.5); }
TEST(JobsOf2026, MlperfRound5) { validate_jobs_of_2026("mlperf-v5", 0.2); }

/// FULL_SHARD was measured on MareNostrum 5 (Modalities, scaling_mn5.md; 4 H100 and four ports of 200 Gbit/s per node).
/// From 256 GPUs on, steps wait for messages. One row was used for calibration: 2.7B on 512 GPUs.
TEST(JobsOf2026, RingsOfManyHoppersCostFewMicrosecondsAMessage) {
  struct Measured {
    const char* workload;
    int gpus;
    double seconds;
  };
  for (const auto& [workload, gpus, measured] :
       {Measured{"gpt-3-2.7b", 256, 0.4540}, Measured{"gpt-3-2.7b", 512, 0.6223}, Measured{"gpt-3-13b", 512, 1.7358},
        Measured{"gpt-3-13b", 1024, 2.1584}}) {
    const Job2026 row{
        {"case", "mn5"},
        {"platform", fmt::format("nodes={} gpus=4 inside=nvlink-4 nic=ib-hdr rails=4", gpus / 4)},
        {"gpus", std::to_string(gpus)},
        {"device", "h100-sxm5"},
        {"timed_as",
         fmt::format("workload={} sequence=4096 precision=bf16 attention=flash sharding=parameters", workload)},
        {"batch", "1"}};
    EXPECT_NEAR(predict_2026(row).seconds / measured, 1, 0.25) << workload << " on " << gpus;
  }
}

/// DLRM-DCNv2 was measured in MLPerf 5.0 and 5.1 (logs of ASUSTeK, Dell, HPE and NVIDIA), with tables divided among all
/// devices.
TEST(JobsOf2026, TablesThatDevicesDivide) {
  struct Measured {
    const char *platform, *device;
    int gpus, batch;
    double seconds;
  };
  for (const auto& [platform, device, gpus, batch, measured] :
       {Measured{"nodes=1 gpus=8 inside=nvlink-4 nic=ib-ndr rails=8", "h200-sxm", 8, 6912, 0.00376},
        Measured{"nodes=1 gpus=8 inside=nvlink-5 nic=ib-ndr rails=8", "b200-sxm", 8, 6912, 0.00268},
        Measured{"nodes=2 gpus=8 inside=nvlink-4 nic=ib-ndr rails=8", "h200-sxm", 16, 4096, 0.00402},
        Measured{"nodes=1 gpus=64 inside=nvlink-5 nic=ib-ndr rails=64", "gb200", 64, 2112, 0.00161}}) {
    const Job2026 row{{"case", "dlrm"},
                      {"platform", platform},
                      {"gpus", std::to_string(gpus)},
                      {"device", device},
                      {"timed_as", fmt::format("workload=dlrm-dcnv2 precision=fp16 expert-parallel={}", gpus)},
                      {"batch", std::to_string(batch)}};
    EXPECT_NEAR(predict_2026(row).seconds / measured, 1, 0.35) << device << ", " << gpus;
  }
}

/// Tests the rule by which rows with many micro-batches are predicted.
TEST(JobsOf2026, StepsGrowEvenlyWithMicroBatches) {
  for (const char* how :
       {"pipeline=2 micro-batch=1", "pipeline=4 interleave=2 micro-batch=1",
        "tensor=2 sequence-parallel=true micro-batch=1 sharding=optimizer", "micro-batch=1 sharding=parameters"}) {
    const Job2026 row{{"case", how},
                      {"platform", "nodes=2 gpus=8 inside=nvlink-4 nic=ib-ndr rails=8"},
                      {"gpus", "16"},
                      {"device", "h100-sxm5"},
                      {"timed_as", std::string("workload=gpt-2-medium precision=bf16 attention=flash ") + how},
                      {"batch", "32"}};
    EXPECT_NEAR(predict_2026(row).seconds / predict_2026(row, false).seconds, 1, 2e-3) << how;
  }
}

/// Every row must give a valid scenario, also with its parallelism.
TEST(JobsOf2026, EveryRowIsAScenario) {
  std::map<std::string, int> rows;
  for (const Job2026& row : test::measured("jobs-2026")) {
    SCOPED_TRACE(named(row));
    EXPECT_NO_THROW(
        static_cast<void>(scenario::ScenarioSource("row.xml", scenario_text(row, std::stoll(row.at("batch")), "auto"))
                              .load(paths_in(row.at("timed_as")), study::make_catalog_without_learning())));
    ++rows[row.at("table")];
  }
  const std::map<std::string, int> expected{
      {"internevo", 36}, {"megatron-bridge", 114}, {"mlperf-v5", 43}, {"modalities", 53}};
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace dadsim
