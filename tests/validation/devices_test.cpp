// Compares published training rates with predictions that use one efficiency per device, kind of layer and precision
// (docs/validation.md).
#include <gtest/gtest.h>

#include "estimate/convergence.hpp"
#include "estimate/statistics.hpp"
#include "scenario/document/load.hpp"
#include "sim/device.hpp"
#include "spec/workload.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/plain_step.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

/// Data-parallel training on the first GPUs of a platform.
struct Training {
  std::string platform, device, workload, batch;  ///< samples per GPU
  std::size_t gpus = 1;
  std::string precision = "fp32";
  bool by_server = false;  ///< the server's processors hold the parameters
};

report::RunResult step_of(const Training& training) {
  const std::string gpus =
      training.by_server ? fmt::format("gpu-[1-{}]", training.gpus) : fmt::format("gpu-[0-{}]", training.gpus - 1);
  const std::string file = training.by_server ? "training-by-server" : "training";
  const scenario::Scenario scenario = scenario::load_scenario(
      fmt::format("{}/tests/validation/{}.xml", DADSIM_SOURCE_DIR, file),
      {fmt::format("platform.file=../../platforms/{}.xml", training.platform), "workers.worker.hosts=" + gpus,
       "workers.worker.device=" + training.device, "timed-as.workload=" + training.workload,
       "timed-as.batch=" + training.batch, "timed-as.precision=" + training.precision},
      study::make_catalog());
  return study::run_experiment(scenario, false).runs.front();
}

/// Adds a row of residuals. For a single device, also adds a row predicted by the device's class.
double add_residuals(test::Residuals& residuals, const Training& training, const std::string& what,
                     const std::string& role, double measured, bool alone) {
  const report::RunResult run = step_of(training);
  residuals.add(what, role, test::parts_in_words(run.step_band.value().parts), {run.step_seconds, measured});
  if (alone) {
    static const study::PlainSteps steps;
    spec::DeviceSpec device = sim::device_catalog().at(training.device);
    device.efficiencies.clear();
    const double seconds = study::seconds_of(
        device, steps.of(spec::workload_registry().find(training.workload)->shape(), std::stoll(training.batch),
                         *spec::parse<spec::Precision>(training.precision)));
    residuals.add(what.substr(0, what.find(" gpus ")) + " by its class", "predicted", "compute.assumed",
                  {seconds, measured});
  }
  return run.step_seconds;
}

std::string rate(double value) { return fmt::format("{:.{}f}", value, value < 1000 ? 1 : 0); }

/// Errors of a table's calibrated and predicted rows.
class Verdict {
 public:
  void add(bool calibrated, const test::Compared& row) {
    (calibrated ? calibrated_ : predicted_).push_back(row);
    all_.push_back(row);
  }

  /// Expects an error of at most 15 % in every calibrated row, and of at most `mean` on average over predicted rows.
  void expect_errors(const std::string& table, double mean) const {
    for (const test::Compared& row : calibrated_) EXPECT_LE(std::abs(row.error()), 0.15) << table;
    if (!predicted_.empty()) {
      EXPECT_LE(test::mean_absolute_error(predicted_), mean) << table;
    }
  }
  /// Expects that predictions order the rows as measurements do.
  void expect_order(const std::string& table) const { EXPECT_GE(estimate::kendall_tau(all_).value(), 0.9) << table; }

  std::vector<std::string> row(const std::string& table) const {
    return {table,
            fmt::format("{}", calibrated_.size()),
            calibrated_.empty() ? "" : fmt::format("{:.1f} %", 100 * test::mean_absolute_error(calibrated_)),
            fmt::format("{}", predicted_.size()),
            predicted_.empty() ? "" : fmt::format("{:.1f} %", 100 * test::mean_absolute_error(predicted_)),
            fmt::format("{:.2f}", estimate::kendall_tau(all_).value())};
  }

 private:
  std::vector<test::Compared> calibrated_, predicted_, all_;
};

test::DocumentedTable summary(const std::string& name) {
  return {name, {"table", "calibrated rows", "mean error", "predicted rows", "mean error", "Kendall tau"}};
}

// OneFlow, the fastest framework, determined the efficiencies. The other rows show how far frameworks differ.
TEST(DeviceValidation, DlperfThroughputIsAsDocumented) {
  test::DocumentedTable table("dlperf", {"workload", "batch", "GPUs", "role", "predicted/s", "OneFlow/s", "error",
                                         "other frameworks/s", "predicted speed-up", "OneFlow's speed-up"});
  test::DocumentedTable sums = summary("dlperf-summary");
  std::map<std::string, Verdict> verdicts;
  test::Compared alone;
  test::Residuals residuals("dlperf");
  for (auto& cells : test::measured("dlperf")) {
    const std::size_t gpus = std::stoul(cells["gpus"]);
    const double seconds =
        add_residuals(residuals, {"v100-edr", "v100-sxm2", cells["workload"], cells["batch"], gpus},
                      fmt::format("{} batch {} gpus {}", cells["workload"], cells["batch"], gpus),
                      gpus == 1 ? "calibrated" : "predicted",
                      static_cast<double>(gpus) * std::stod(cells["batch"]) / std::stod(cells["oneflow"]), gpus == 1);
    const test::Compared row{static_cast<double>(gpus) * std::stod(cells["batch"]) / seconds,
                             std::stod(cells["oneflow"])};
    if (gpus == 1) alone = row;
    verdicts[cells["workload"] + ", batch " + cells["batch"]].add(gpus == 1, row);
    std::vector<double> others;
    for (const std::string& other : test::split(cells["others"], ' ')) others.push_back(std::stod(other));
    const auto [least, most] = std::ranges::minmax_element(others);
    table.add({cells["workload"], cells["batch"], cells["gpus"], gpus == 1 ? "calibrated" : "predicted",
               rate(row.predicted), rate(row.measured), test::percent(row.error()),
               *least == *most ? rate(*least) : rate(*least) + " to " + rate(*most),
               fmt::format("{:.2f}", row.predicted / alone.predicted),
               fmt::format("{:.2f}", row.measured / alone.measured)});
  }
  for (const auto& [name, verdict] : verdicts) {
    verdict.expect_errors(name, 0.20);
    verdict.expect_order(name);
    sums.add(verdict.row(name));
  }
  table.expect_in_document();
  sums.expect_in_document();
  residuals.expect_in_file();
}

/// Returns the seconds of evaluations that the MLPerf Training rules require: every fourth epoch, 50,000 images
/// forward. An image takes a third of a training step's work.
double evaluation_seconds(double epochs, double images_per_second) {
  constexpr double kEvery = 4;
  constexpr double kImages = 50'000;
  return std::ceil(epochs / kEvery) * kImages / (3 * images_per_second);
}

TEST(DeviceValidation, MlperfStepsAndTimesAreAsDocumented) {
  test::DocumentedTable steps(
      "mlperf-steps", {"round", "system", "GPUs", "batch per GPU", "role", "predicted ms", "measured ms", "error"});
  test::DocumentedTable times("mlperf-times", {"round", "system", "GPUs", "published epochs", "its epochs",
                                               "predicted s", "measured s", "error", "with its own epochs", "error"});
  test::DocumentedTable sums = summary("mlperf-summary");
  Verdict by_step;
  Verdict by_time;
  Verdict by_time_own;
  const spec::Workload& resnet = *spec::workload_registry().find("resnet-50");
  const auto images = static_cast<double>(resnet.dataset_size);
  test::Residuals residuals("mlperf");
  for (auto& cells : test::measured("mlperf-resnet")) {
    const std::size_t gpus = std::stoul(cells["gpus"]);
    const double batch = static_cast<double>(gpus) * std::stod(cells["batch"]);
    const test::Compared step{
        add_residuals(residuals, {cells["platform"], cells["device"], "resnet-50", cells["batch"], gpus, "fp16"},
                      cells["round"] + " " + cells["system"], cells["role"], batch / std::stod(cells["rate"]),
                      cells["nodes"] == "1"),
        batch / std::stod(cells["rate"])};
    // The catalogue's efficiencies were calibrated on these rows.
    const bool calibrated = cells["role"] == "calibrated";
    by_step.add(calibrated, step);
    steps.add({cells["round"], cells["system"], cells["gpus"], cells["batch"], cells["role"],
               fmt::format("{:.1f}", 1e3 * step.predicted), fmt::format("{:.1f}", 1e3 * step.measured),
               test::percent(step.error())});

    const double own_epochs = std::stod(cells["epochs"]);
    const estimate::KnownStepsAnswer known = estimate::published_steps(resnet, static_cast<std::int64_t>(batch));
    ASSERT_TRUE(known.known) << (known.why_not ? known.why_not->kind : "");
    const double epochs = known.known->steps * batch / images;
    const auto predict = [&](double count) {
      return std::ceil(count * images / batch) * step.predicted + evaluation_seconds(count, batch / step.predicted);
    };
    const test::Compared time{predict(epochs), std::stod(cells["seconds"])};
    const test::Compared time_own{predict(own_epochs), std::stod(cells["seconds"])};
    by_time.add(false, time);
    by_time_own.add(false, time_own);
    times.add({cells["round"], cells["system"], cells["gpus"], fmt::format("{:.1f}", epochs), cells["epochs"],
               fmt::format("{:.0f}", time.predicted), fmt::format("{:.0f}", time.measured), test::percent(time.error()),
               fmt::format("{:.0f}", time_own.predicted), test::percent(time_own.error())});
  }
  by_step.expect_errors("steps", 0.20);
  by_step.expect_order("steps");
  by_time.expect_errors("times", 0.25);
  by_time.expect_order("times");
  by_time_own.expect_errors("times with their own epochs", 0.25);
  by_time_own.expect_order("times with their own epochs");
  sums.add(by_step.row("step"));
  sums.add(by_time.row("time to train, published epochs"));
  sums.add(by_time_own.row("time to train, its own epochs"));
  steps.expect_in_document();
  times.expect_in_document();
  sums.expect_in_document();
  residuals.expect_in_file();
}

TEST(DeviceValidation, TensorFlowOf2017IsAsDocumented) {
  test::DocumentedTable table("tensorflow-2017", {"system", "workload", "batch per GPU", "GPUs", "parameters", "role",
                                                  "predicted/s", "measured/s", "error"});
  test::DocumentedTable sums = summary("tensorflow-2017-summary");
  std::map<std::string, Verdict> verdicts;
  std::map<std::string, test::Residuals> residuals;
  for (auto& cells : test::measured("tensorflow-2017")) {
    const std::size_t gpus = std::stoul(cells["gpus"]);
    const std::string system = "tensorflow-2017 " + cells["system"];
    const double seconds =
        add_residuals(residuals.try_emplace(system, system).first->second,
                      {cells["platform"], cells["device"], cells["workload"], cells["batch"], gpus, "fp32",
                       cells["exchange"] == "aggregator"},
                      fmt::format("{} batch {} gpus {}", cells["workload"], cells["batch"], gpus), cells["role"],
                      static_cast<double>(gpus) * std::stod(cells["batch"]) / std::stod(cells["rate"]), gpus == 1);
    const test::Compared row{static_cast<double>(gpus) * std::stod(cells["batch"]) / seconds, std::stod(cells["rate"])};
    const bool calibrated = cells["role"] == "calibrated";
    verdicts[cells["system"]].add(calibrated, row);
    table.add({cells["system"], cells["workload"], cells["batch"], cells["gpus"],
               cells["exchange"] == "aggregator" ? "on the processors" : "replicated", cells["role"],
               rate(row.predicted), rate(row.measured), test::percent(row.error())});
  }
  for (const auto& [name, verdict] : verdicts) {
    verdict.expect_errors(name, 0.20);
    verdict.expect_order(name);
    sums.add(verdict.row(name));
  }
  table.expect_in_document();
  sums.expect_in_document();
  for (const auto& [name, one] : residuals) one.expect_in_file();
}

TEST(DeviceValidation, OneRtx3090IsAsDocumented) {
  test::DocumentedTable table("rtx-3090", {"workload", "batch", "role", "predicted/s", "measured/s", "error"});
  Verdict verdict;
  test::Residuals residuals("rtx-3090");
  for (auto& cells : test::measured("timm")) {
    const double batch = std::stod(cells["batch"]);
    const double seconds = add_residuals(residuals, {"lab", "rtx-3090", cells["workload"], cells["batch"], 1, "fp16"},
                                         fmt::format("{} batch {}", cells["workload"], cells["batch"]), cells["role"],
                                         batch / std::stod(cells["rate"]), true);
    const test::Compared row{batch / seconds, std::stod(cells["rate"])};
    const bool calibrated = cells["role"] == "calibrated";
    verdict.add(calibrated, row);
    table.add({cells["workload"], cells["batch"], cells["role"], rate(row.predicted), rate(row.measured),
               test::percent(row.error())});
  }
  verdict.expect_errors("one RTX 3090", 0.20);
  table.expect_in_document();
  residuals.expect_in_file();
}

}  // namespace
}  // namespace dadsim
