#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/study_options.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/language/quantity.hpp"
#include "sim/device.hpp"
#include "spec/near_names.hpp"
#include "spec/precision.hpp"
#include "spec/workload.hpp"
#include "study/diagnose/measurement.hpp"
#include "study/diagnose/read_log.hpp"
#include "study/measured/calibrate.hpp"
#include "support/atomic_file.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/file_identity.hpp"
#include "support/human.hpp"
#include "support/terminal.hpp"
#include "support/version.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

/// Name of a device with only the assumptions of its class, NVIDIA's data-centre GPUs.
constexpr const char* kUsualClass = "v100-pcie";

/// Returns a profile's step as a measurement, without the time of its collectives. Throws UsageError, InputError.
study::MeasuredDeviceStep measurement_of(const po::variables_map& values, const std::string& file,
                                         const formats::ProfiledStep& profile) {
  const std::string workload = text_of(values, "workload");
  if (workload.empty()) throw UsageError("--workload NAME is missing: the network of the profile");
  if (spec::workload_registry().find(workload) == nullptr) {
    throw UsageError(
        fmt::format("--workload: no workload is called '{}'; {}", workload,
                    spec::remedy_for_name(spec::NameKind::workload, workload, spec::workload_registry().names())));
  }
  constexpr std::int64_t kMostSamples = 1'000'000;
  const auto batch = value_of<std::int64_t>(values, "batch", scenario::integer(1, kMostSamples));
  if (!batch) throw UsageError("--batch N is missing: the samples per step of the profile");
  const spec::Precision precision = value_of<spec::Precision>(values, "precision").value_or(spec::Precision::fp32);
  // A table does not show which operations overlap with a collective; a trace has the exposed time of collectives.
  const bool alone = profile.step && (profile.idle || profile.communicating == 0);
  const double seconds = alone ? *profile.step - profile.communicating : profile.computing;
  if (!(seconds > 0)) throw InputError({file, 0, "has steps that take no time", "use a profile of training steps"});
  return {.workload = workload, .batch = *batch, .precision = precision, .seconds = seconds, .line = 1};
}

/// Returns the measurements: one per line of a CSV file, or the single one of a profile.
std::vector<study::MeasuredDeviceStep> measurements_in(const po::variables_map& values, const std::string& file) {
  const std::string text = read_input(file, "use a file of measurements", kMostOfLog);
  if (std::optional<formats::ProfiledStep> profile = study::read_profile(file, text))
    return {measurement_of(values, file, *profile)};
  for (const char* option : {"workload", "batch", "precision"}) {
    if (values.contains(option))
      throw UsageError(
          fmt::format("--{0} needs a profile, but '{1}' is a table; put {0} in a column of the table", option, file));
  }
  return study::read_measurements(file, text);
}

constexpr scenario::Range kAboveZero{.minimum = 0, .open_minimum = true};
constexpr scenario::QuantityForm kPeak{scenario::Unit::flops, kAboveZero, "flop/s above 0 with their unit, e.g. 125TF"};
constexpr scenario::QuantityForm kMemoryBandwidth{scenario::Unit::bytes_per_second, kAboveZero,
                                                  "bytes per second above 0 with their unit, e.g. 900GBps"};

double& peak_of(spec::DeviceSpec& device, const std::string& precision) {
  const auto named = spec::parse<spec::Precision>(precision);
  if (named == spec::Precision::fp32) return device.peak_flops;
  if (named == spec::Precision::tf32) return device.tf32_flops;
  if (named == spec::Precision::fp16) return device.fp16_flops;
  if (named == spec::Precision::bf16) return device.bf16_flops;
  throw UsageError(fmt::format("--peak: no precision is called '{}'; fp32, tf32, fp16 or bf16", precision));
}

/// Returns the device from which the fit starts.
spec::DeviceSpec base_of(const po::variables_map& values) {
  const std::string like = text_of(values, "like");
  const auto& known = sim::device_catalog();
  if (!like.empty() && known.find(like) == nullptr)
    throw UsageError(fmt::format("--like: no device is called '{}'; {}", like,
                                 spec::remedy_for_name(spec::NameKind::device, like, known.names())));
  spec::DeviceSpec device = known.at(like.empty() ? kUsualClass : like);
  if (like.empty()) {
    if (!values.contains("peak") || !values.contains("bandwidth"))
      throw UsageError("add --like DEVICE, or --peak PRECISION=RATE and --bandwidth RATE");
    device.peak_flops = device.tf32_flops = device.fp16_flops = device.bf16_flops = 0;
    device.memory_bytes = device.power = 0;
    device.description.clear();
  }
  if (values.contains("peak")) {
    for (const std::string& one : values["peak"].as<std::vector<std::string>>()) {
      const std::size_t equal = one.find('=');
      if (equal == std::string::npos) throw UsageError(fmt::format("--peak '{}' has no '='; write fp16=125TF", one));
      peak_of(device, one.substr(0, equal)) = read_option<double>("peak", one.substr(equal + 1), quantity(kPeak));
    }
  }
  device.memory_bandwidth =
      value_of<double>(values, "bandwidth", quantity(kMemoryBandwidth)).value_or(device.memory_bandwidth);
  return device;
}

report::Document document_of(const study::Calibration& calibration,
                             const std::vector<study::MeasuredDeviceStep>& measurements) {
  report::Document document{{.version = kVersion, .build = build()}, {}};
  document.command = "dadsim calibrate";
  document.setting = calibration.device.name;
  const auto fitted = std::ranges::count_if(calibration.constants, &study::CalibratedConstant::fitted);
  const bool over = static_cast<std::size_t>(fitted) < measurements.size();
  document.lead = {over ? fmt::format("Mean error of the fit {:.1f} %.", 100 * calibration.spread)
                        : "The fit has as many constants as measurements, so its error is unknown."};
  report::DocumentTable constants, steps;
  for (const bool determined : {true, false}) {
    for (const study::CalibratedConstant& one : calibration.constants) {
      if (one.fitted != determined) continue;
      constants.add_row()
          .add("constant", "constant", one.name, report::Unit::text)
          .add("value", "value", one.value, report::Unit::plain,
               one.in_seconds ? human_seconds(one.value) : fmt::format("{:.4f}", one.value))
          .add("fitted", one.fitted)
          .add("uncertainty", "if each measurement is off by 1 %", one.uncertainty, report::Unit::text,
               one.fitted ? fmt::format("± {:.1f} %", 100 * one.uncertainty)
                          : "unchanged, since these measurements do not determine it");
    }
  }
  const bool kernels = measurements.front().kernel.has_value();
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const study::MeasuredDeviceStep& one = measurements[i];
    report::TableRow row = steps.add_row();
    row.add("workload", kernels ? "kernel" : "step", one.workload, report::Unit::text);
    if (!kernels) row.add("batch", "batch", one.batch, report::Unit::plain);
    row.add("precision", "precision", to_string(one.precision), report::Unit::text)
        .add("measured_seconds", "measured", one.seconds, report::Unit::seconds)
        .add("fitted_seconds", "fitted", calibration.seconds[i], report::Unit::seconds)
        .add("error", "error", calibration.seconds[i] / one.seconds - 1, report::Unit::signed_share);
  }
  if (kernels) {
    document.lead.push_back(
        fmt::format("Dense layers are written with {:.2f} of the efficiency above, since training reaches less than "
                    "single kernels.",
                    calibration.of_products));
    document.add("of_products", calibration.of_products);
  }
  document.add("spread", over ? report::DocumentValue(calibration.spread) : report::DocumentValue());
  document.parts.push_back(
      {.name = "constants", .shown = report::Shown::always, .what = std::move(constants), .text = "\n"});
  document.parts.push_back(
      {.name = kernels ? "kernels" : "steps", .shown = report::Shown::always, .what = std::move(steps)});
  return document;
}

study::MeasuredStep row_of(const std::string& text) {
  study::MeasuredStep row;
  const auto rate = [&](std::string_view unit) -> std::optional<double> {
    if (!text.ends_with(unit)) return {};
    const std::string number = text.substr(0, text.find_last_not_of(' ', text.size() - unit.size() - 1) + 1);
    return read_option<double>("row", number, scenario::real(kAboveZero));
  };
  row.tokens_per_second = rate("tokens/s");
  row.samples_per_second = rate("samples/s");
  constexpr scenario::QuantityForm kStep{scenario::Unit::seconds, kAboveZero, "312ms, 82000tokens/s or 41samples/s"};
  if (!row.tokens_per_second && !row.samples_per_second)
    row.step_seconds = read_option<double>("row", text, quantity(kStep));
  return row;
}

report::Document document_of(const study::FittedSpeed& fit) {
  report::Document document{{.version = kVersion, .build = build()}, {}};
  document.command = "dadsim calibrate";
  document.lead = {fmt::format("predicted {} ({} … {}), measured {}: workers compute {:.3g} times as fast as assumed",
                               human_seconds(fit.predicted), human_seconds(fit.predicted * fit.band.low),
                               human_seconds(fit.predicted * fit.band.high), human_seconds(fit.measured), fit.speed)};
  document.add("predicted_seconds", fit.predicted, "low", fit.predicted * fit.band.low, "high",
               fit.predicted * fit.band.high, "measured_seconds", fit.measured, "speed", fit.speed, "fitted_low",
               fit.own_band.low, "fitted_high", fit.own_band.high);
  document.print(
      fmt::format("Set this on each <worker> of scenarios with the same network, device and software, at any size and "
                  "layout:\n\n    "
                  "speed=\"{:.4g}\"\n\nNine of ten measured steps are then expected from {:+.0f} to {:+.0f} % of the "
                  "prediction; printed bands\nassume software without a measurement.\n",
                  fit.speed, 100 * (fit.own_band.low - 1), 100 * (fit.own_band.high - 1)));
  return document;
}

void fit_to_row(const po::variables_map& values) {
  const std::string file = only_operand(values, "no scenario is named", "one scenario", "calibrate");
  for (const char* option : {"device", "like", "peak", "bandwidth", "workload", "batch", "precision", "out"}) {
    if (values.contains(option))
      throw UsageError(
          fmt::format("--{} needs a file of measurements, but --row needs a scenario; remove one of them", option));
  }
  const StudyFiles files(values, {{"the scenario", file}});
  files.write(document_of(study::fit_speed(file, row_of(text_of(values, "row")))));
}

}  // namespace

void run_calibrate(const po::variables_map& values) {
  if (values.contains("row")) return fit_to_row(values);
  const std::string file = only_operand(values, "no measurements are named", "one file", "calibrate");
  const std::string name = text_of(values, "device");
  if (name.empty()) throw UsageError("--device NAME is missing: the name of the new device");
  if (has_hidden_characters(name))
    throw UsageError("--device: the name has control characters, which change a terminal; remove them");
  if (sim::device_catalog().find(name) != nullptr)
    throw UsageError(fmt::format("--device '{}' is a device of the catalogue; use another name", name));
  const std::string to = text_of(values, "out");
  const std::string out = to.empty() ? "-" : to;
  const StudyFiles files(values, {{"the measurements", file}}, {{"--out", out}});

  spec::DeviceSpec base = base_of(values);
  base.name = name;
  const std::vector<study::MeasuredDeviceStep> measurements = measurements_in(values, file);
  const study::Calibration calibration = study::calibrate(base, measurements, file);
  write_file_atomically(out, scenario::print_device(calibration.device));
  const report::Document document = document_of(calibration, measurements);
  files.write(document);
  // No other text is printed if the element goes to standard output.
  if (descriptor_of(out) == STDOUT_FILENO && !values.contains("quiet")) say(to_table(document));
}

}  // namespace dadsim::cli
