// Compares published jobs on many GPUs with predictions: gradient accumulation, recomputation, sharding, tensor and
// pipeline parallelism. One prediction uses the catalogue's device. Another uses a device calibrated on the table's
// rows of one GPU, or of one node if no row has one GPU (docs/validation.md).
#include <gtest/gtest.h>

#include "estimate/statistics.hpp"
#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

using JobRow = std::map<std::string, std::string>;

scenario::Scenario job(const JobRow& row) {
  const int gpus = std::stoi(row.at("gpus"));
  std::vector<std::string> settings{
      fmt::format("platform.file=../../platforms/{}.xml", row.at("platform")),
      gpus == 1 ? "workers.worker.hosts=gpu-0" : fmt::format("workers.worker.hosts=gpu-[0-{}]", gpus - 1),
      "workers.worker.device=" + row.at("device"), "timed-as.batch=" + row.at("batch")};
  // This table sums all gradients once, after the backward pass. Flow takes a tenth of the time to simulate and agrees
  // to 13 digits.
  if (row.at("table") == "bert-large" && gpus > 1) settings.emplace_back("network.fidelity=flow");
  for (const std::string& setting : test::split(row.at("timed_as"), ' ')) {
    settings.push_back(setting.find('.') < setting.find('=') ? setting : "timed-as." + setting);
  }
  return scenario::load_scenario(std::string(DADSIM_SOURCE_DIR) + "/tests/validation/training.xml", settings,
                                 study::make_catalog());
}

/// Returns the device with all its times multiplied by `factor`.
spec::DeviceSpec slower(spec::DeviceSpec device, double factor) {
  for (double* rate :
       {&device.peak_flops, &device.tf32_flops, &device.fp16_flops, &device.bf16_flops, &device.memory_bandwidth}) {
    *rate /= factor;
  }
  device.launch_overhead *= factor;
  device.ramp_seconds *= factor;
  return device;
}

report::RunResult predict(const JobRow& row, double factor) {
  scenario::Scenario scenario = job(row);
  if (factor != 1) {
    scenario.devices.insert(scenario.devices.begin(),
                            slower(study::find_device(scenario.devices, row.at("device")), factor));
  }
  return study::run_experiment(scenario, false).runs.front();
}

std::string name_of(const JobRow& row) {
  return fmt::format("{} gpus {} batch {}", row.at("case"), row.at("gpus"), row.at("batch"));
}

/// Returns, by name, the geometric mean of measured ÷ predicted time over a table's rows of one GPU or one node.
std::map<std::string, double> factors_of(const std::vector<JobRow>& rows, std::map<std::string, double>& catalogue,
                                         test::Residuals& residuals) {
  std::map<std::string, std::pair<double, int>> logs;
  for (const JobRow& row : rows) {
    const report::RunResult run = predict(row, 1);
    const double seconds = run.step_seconds;
    catalogue[name_of(row)] = seconds;
    residuals.add(name_of(row), row.at("role") == "calibrated" ? "fitted" : "predicted",
                  test::parts_in_words(run.step_band.value().parts), {seconds, std::stod(row.at("seconds"))});
    if (row.at("role") != "calibrated") continue;
    auto& [sum, count] = logs[row.at("base")];
    sum += std::log(std::stod(row.at("seconds")) / seconds);
    ++count;
  }
  std::map<std::string, double> factors;
  for (const auto& [base, log] : logs) factors[base] = std::exp(log.first / log.second);
  return factors;
}

/// Returns the samples per second of a row's GPUs, by which rows of different networks in one table are ordered.
double rate(const JobRow& row, double seconds) {
  double replicas = std::stod(row.at("gpus"));
  for (const std::string& setting : test::split(row.at("timed_as"), ' ')) {
    if (setting.starts_with("tensor=")) replicas /= std::stod(setting.substr(7));
    if (setting.starts_with("pipeline=")) replicas /= std::stod(setting.substr(9));
  }
  return replicas * std::stod(row.at("batch")) / seconds;
}

void validate(const std::string& name, double bound, double order = 0.9, bool by_rate = false) {
  std::vector<JobRow> rows = test::measured("jobs");
  std::erase_if(rows, [&](const JobRow& row) { return row.at("table") != name; });
  std::map<std::string, double> catalogue;
  test::Residuals residuals("jobs-" + name);
  const std::map<std::string, double> factors = factors_of(rows, catalogue, residuals);
  test::DocumentedTable table("jobs-" + name, {"job", "GPUs", "role", "predicted ms", "measured ms", "error",
                                               "error with the catalogue's device"});
  std::vector<test::Compared> predicted;
  std::vector<test::Compared> as_is;
  std::vector<test::Compared> all;
  std::vector<test::Compared> errors;
  for (const JobRow& row : rows) {
    const double measured = std::stod(row.at("seconds"));
    const double before = catalogue.at(name_of(row));
    const test::Compared compared{predict(row, factors.at(row.at("base"))).step_seconds, measured};
    const test::Compared without{before, measured};
    all.push_back(by_rate ? test::Compared{rate(row, compared.predicted), rate(row, measured)} : compared);
    as_is.push_back(by_rate ? test::Compared{rate(row, before), rate(row, measured)} : without);
    errors.push_back(without);
    if (row.at("role") != "calibrated") predicted.push_back(compared);
    table.add({row.at("case"), row.at("gpus"), row.at("role"), fmt::format("{:.1f}", 1e3 * compared.predicted),
               fmt::format("{:.1f}", 1e3 * measured), test::percent(compared.error()), test::percent(without.error())});
  }
  table.add({"mean of predicted rows", "", fmt::format("{} rows", predicted.size()), "", "",
             predicted.empty() ? "" : fmt::format("{:.1f} %", 100 * test::mean_absolute_error(predicted)),
             fmt::format("{:.1f} %", 100 * test::mean_absolute_error(errors))});
  const double tau = estimate::kendall_tau(all).value();
  table.add({"Kendall's tau of all", "", "", "", "", fmt::format("{:.2f}", tau),
             fmt::format("{:.2f}", estimate::kendall_tau(as_is).value())});
  if (!predicted.empty()) {
    EXPECT_LE(test::mean_absolute_error(predicted), bound) << name;
  }
  EXPECT_GE(tau, order) << name;
  table.expect_in_document();
  residuals.expect_in_file();
}

// The target was an error of 12 %. From one GPU to several nodes, four frameworks of this table lose the same 50 to 70
// ms, which fp32 does not (docs/validation.md). Three of 28 pairs are predicted in the wrong order, the closest by 2 %:
// ResNet-50 on 8 GPUs and BERT on 32. With NCCL's ring, BERT on 32 GPUs is 37 % off. It was within 19 % only while
// trees over four nodes took 1.4 times too long, which hid a part of the loss.
TEST(JobsValidation, DlperfAmp) { validate("dlperf-amp", 0.24, 0.78); }
TEST(JobsValidation, DlperfGpt) { validate("dlperf-gpt", 0.12, 0.88, true); }
TEST(JobsValidation, BertLarge) { validate("bert-large", 0.10); }
TEST(JobsValidation, MptFullySharded) { validate("mpt", 0.08); }
TEST(JobsValidation, TensorAndPipeline) { validate("megatron", 0.10); }

}  // namespace
}  // namespace dadsim
