#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/output_files.hpp"
#include "cli/print.hpp"
#include "cli/usage_error.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/language/quantity.hpp"
#include "sim/device.hpp"
#include "spec/near_names.hpp"
#include "spec/precision.hpp"
#include "spec/workload.hpp"
#include "study/diagnose/fit_speed.hpp"
#include "study/diagnose/read_log.hpp"
#include "study/measured/calibrate.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/human.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

/// Returns a device of the class of NVIDIA's data-centre GPUs, with the assumptions of the class only.
constexpr const char* kUsualClass = "v100-pcie";

/// A step of a profile of torch.profiler, without what its collectives add to it. Throws UsageError, InputError.
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
  // A table does not show operations concurrent with a collective; a trace counts the exposed time of collectives.
  const bool alone = profile.step && (profile.idle || profile.communicating == 0);
  const double seconds = alone ? *profile.step - profile.communicating : profile.computing;
  if (!(seconds > 0)) throw InputError({file, 0, "has steps that take no time", "use a profile of training steps"});
  return {.workload = workload, .batch = *batch, .precision = precision, .seconds = seconds, .line = 1};
}

/// Returns the measurements: one per line of a CSV file, or the one of a profile.
std::vector<study::MeasuredDeviceStep> measurements_in(const po::variables_map& values, const std::string& file) {
  const std::string text = read_input(file, "a file of measurements", kMostOfLog);
  if (std::optional<formats::ProfiledStep> profile = study::read_profile(file, text))
    return {measurement_of(values, file, *profile)};
  for (const char* option : {"workload", "batch", "precision"}) {
    if (values.contains(option))
      throw UsageError(fmt::format("--{} needs a profile, but '{}' is a table; use its column", option, file));
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

/// Returns the device from which the fit begins.
spec::DeviceSpec base_of(const po::variables_map& values) {
  const std::string like = text_of(values, "like");
  const auto& known = sim::device_catalog();
  if (!like.empty() && known.find(like) == nullptr)
    throw UsageError(fmt::format("--like: no device is called '{}'; {}", like,
                                 spec::remedy_for_name(spec::NameKind::device, like, known.names())));
  spec::DeviceSpec device = known.at(like.empty() ? kUsualClass : like);
  if (like.empty()) {
    if (!values.contains("peak") || !values.contains("bandwidth"))
      throw UsageError("--like DEVICE is missing, or --peak PRECISION=RATE and --bandwidth RATE");
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

std::string in_words(const study::CalibratedConstant& constant) {
  return constant.in_seconds ? human_seconds(constant.value) : fmt::format("{:.4f}", constant.value);
}

std::string in_words(const study::Calibration& calibration,
                     const std::vector<study::MeasuredDeviceStep>& measurements) {
  std::string text = "Fitted:\n";
  std::string kept;
  for (const study::CalibratedConstant& one : calibration.constants) {
    if (one.fitted) {
      text += fmt::format("  {:<34} {:>10}   ± {:.1f} % if each measurement is off by 1 %\n", one.name, in_words(one),
                          100 * one.uncertainty);
    } else {
      kept += fmt::format("  {:<34} {:>10}\n", one.name, in_words(one));
    }
  }
  if (!kept.empty()) text += "Unchanged, since these measurements do not determine it:\n" + kept;
  text += "Steps:\n";
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const study::MeasuredDeviceStep& one = measurements[i];
    text += fmt::format("  {:<20} {:>6} {}  measured {:>9}, fitted {:>9}  {:+.1f} %\n", one.workload, one.batch,
                        to_string(one.precision), human_seconds(one.seconds), human_seconds(calibration.seconds[i]),
                        100 * (calibration.seconds[i] / one.seconds - 1));
  }
  const auto fitted = std::ranges::count_if(calibration.constants, &study::CalibratedConstant::fitted);
  text += static_cast<std::size_t>(fitted) < measurements.size()
              ? fmt::format("Mean error of the fit {:.1f} %.\n", 100 * calibration.spread)
              : "The fit has as many constants as measurements, so its error is unknown.\n";
  return text;
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

void fit_to_row(const po::variables_map& values) {
  const std::string file = only_operand(values, "no scenario is named", "one scenario", "calibrate");
  for (const char* option : {"device", "like", "peak", "bandwidth", "workload", "batch", "precision", "out", "quiet"}) {
    if (values.contains(option))
      throw UsageError(fmt::format("--{} needs measurements in a file, and --row a scenario; use one of them", option));
  }
  const study::FittedSpeed fit = study::fit_speed(file, row_of(text_of(values, "row")));
  const auto with = [](double seconds, const estimate::Band& band) {
    return fmt::format("{} ({} … {})", human_seconds(seconds), human_seconds(seconds * band.low),
                       human_seconds(seconds * band.high));
  };
  print(
      fmt::format("predicted {}, measured {}: workers compute {:.3g} times as fast as assumed\n\nSet on each <worker> "
                  "of a scenario of the same network, device and software, for any size and layout:\n\n    "
                  "speed=\"{:.4g}\"\n\nNine of ten measured steps are then expected within {:+.0f} and {:+.0f} % of "
                  "the prediction; printed bands\nare those of software without a measurement.\n",
                  with(fit.predicted, fit.band), human_seconds(fit.measured), fit.speed, fit.speed,
                  100 * (fit.own_band.low - 1), 100 * (fit.own_band.high - 1)));
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
  const std::string out = text_of(values, "out");
  const OutputFiles outputs({{"--out", out}}, {{"the measurements", file}});
  outputs.check_writable();

  spec::DeviceSpec base = base_of(values);
  base.name = name;
  const std::vector<study::MeasuredDeviceStep> measurements = measurements_in(values, file);
  const study::Calibration calibration = study::calibrate(base, measurements, file);
  const std::string element = scenario::print_device(calibration.device);
  const bool to_file = !out.empty() && !outputs.take_standard_output();
  write_file_atomically(to_file ? out : "-", element);
  if (values.contains("quiet")) return;
  // Standard output has only the element if it is the destination of the element.
  const std::string text = in_words(calibration, measurements);
  if (to_file) return print(text);
  say(text);
}

}  // namespace dadsim::cli
