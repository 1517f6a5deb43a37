#include "study/measured/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "scenario/language/quantity.hpp"
#include "sim/kernels.hpp"
#include "spec/near_names.hpp"
#include "spec/workload.hpp"
#include "study/setting/plain_step.hpp"
#include "support/diagnostics.hpp"
#include "support/human.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

using Kind = MeasuredKernel::Kind;

double bytes_of_number(spec::Precision precision) {
  return precision == spec::Precision::fp32 || precision == spec::Precision::tf32 ? 4 : 2;
}

double flops_of(const MeasuredKernel& kernel) {
  const auto& [a, b, c] = kernel.sizes;
  if (kernel.kind == Kind::product) return 2 * a * b * c;
  return kernel.kind == Kind::attention ? sim::attention_flops(a * b * b, c, false) : 0;
}

double bytes_of(const MeasuredKernel& kernel, spec::Precision precision) {
  const auto& [a, b, c] = kernel.sizes;
  if (kernel.kind == Kind::pass) return a;
  const double numbers = kernel.kind == Kind::product ? a * b + b * c + a * c : 4 * a * b * c;
  return numbers * bytes_of_number(precision);
}

constexpr const char* kTimeForm =
    "give the time of a step with its unit, e.g. 321ms, or samples per second, e.g. 398/s";
constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::size_t kMostBytesOfLineOfSteps = 65'536;
constexpr std::size_t kMostRowsOfSteps = 10'000;
constexpr std::size_t kMostFaultsOfSteps = 20;  // largest number of errors listed

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (const std::string_view cell : split_at(line, ',')) cells.emplace_back(trimmed(cell));
  return cells;
}

/// A file of measurements while it is read, with all its errors.
class MeasurementReader {
 public:
  explicit MeasurementReader(const std::string& file) : file_(file) {}

  std::vector<MeasuredDeviceStep> read(const std::string& text) {
    int number = 0;
    for (const std::string_view said : lines_of(text)) {
      ++number;
      if (said.size() > kMostBytesOfLineOfSteps || rows_.size() == kMostRowsOfSteps)
        throw InputError({file_, number, "a line has more than 64 KiB, or the file more than 10,000 lines",
                          "use fewer measurements"});
      const std::string line(said);
      if (trimmed(line).empty() || line.starts_with('#')) continue;
      if (columns_.empty()) {
        read_header(number, line);
        if (!errors_.empty()) break;
      } else {
        read_row(number, line);
      }
      if (errors_.size() >= kMostFaultsOfSteps) throw InputError(std::move(errors_));
    }
    if (columns_.empty() && errors_.empty())
      fail(0, "no measurements", "begin with a line of columns, e.g. workload,batch,time, then a line per measurement");
    if (!columns_.empty() && rows_.empty() && errors_.empty())
      fail(number, "no measurement below the columns", "add a line per measurement");
    check_against_each_other();
    if (!errors_.empty()) throw InputError(std::move(errors_));
    return std::move(rows_);
  }

 private:
  void fail(int line, std::string what, std::string remedy) {
    errors_.push_back({file_, line, std::move(what), std::move(remedy)});
  }

  void read_header(int line, const std::string& text) {
    columns_ = cells_of(text);
    const bool kernels = std::ranges::find(columns_, "kernel") != columns_.end();
    const std::vector<std::string> known =
        kernels ? std::vector<std::string>{"kernel", "time", "precision"}
                : std::vector<std::string>{"workload", "batch", "time", "precision", "gpus"};
    for (const std::string& column : columns_) {
      if (std::ranges::find(known, column) == known.end())
        fail(line, fmt::format("unknown column '{}'{}", column, kernels ? " in a table of kernels" : ""),
             suggestion(column, known));
      if (std::ranges::count(columns_, column) > 1 && !said_)
        fail(line, fmt::format("column '{}' twice", column), "each once");
      said_ = said_ || std::ranges::count(columns_, column) > 1;
    }
    const std::vector<std::string> needed(known.begin(), known.begin() + (kernels ? 2 : 3));
    for (const std::string& column : needed) {
      if (std::ranges::find(columns_, column) == columns_.end())
        fail(line, fmt::format("no column '{}'", column),
             fmt::format("put {} in the first line", fmt::join(needed, ",")));
    }
  }

  void read_kernel(MeasuredDeviceStep& row, const std::string& cell) {
    row.workload = cell;
    row.batch = 1;
    row.kernel = parse_measured_kernel(cell);
    if (!row.kernel)
      fail(row.line, fmt::format("'{}' is not a kernel", cell),
           "write product 4096x11008x4096, attention 64x8192x128 or pass 1073741824");
  }

  void read_row(int line, const std::string& text) {
    const std::vector<std::string> cells = cells_of(text);
    if (cells.size() != columns_.size()) {
      return fail(line, fmt::format("{} cells for {} columns", cells.size(), columns_.size()),
                  fmt::format("{}", fmt::join(columns_, ",")));
    }
    const std::size_t before = errors_.size();
    MeasuredDeviceStep row;
    row.line = line;
    std::string time;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& cell = cells[i];
      if (columns_[i] == "kernel") {
        read_kernel(row, cell);
      } else if (columns_[i] == "workload") {
        row.workload = cell;
        if (spec::workload_registry().find(cell) == nullptr)
          fail(line, fmt::format("no workload is called '{}'", cell),
               spec::remedy_for_name(spec::NameKind::workload, cell, spec::workload_registry().names()));
      } else if (columns_[i] == "batch") {
        row.batch = parse_whole<std::int64_t>(cell).value_or(0);
        if (row.batch < 1 || row.batch > kMostSamples)
          fail(line, fmt::format("batch '{}' is not a number of samples", cell), "use a whole number from 1 on");
      } else if (columns_[i] == "precision" && !cell.empty()) {
        const auto precision = spec::parse<spec::Precision>(cell);
        if (!precision) {
          std::vector<std::string> names;
          for (const spec::Precision one : spec::kPrecisions) names.emplace_back(to_string(one));
          fail(line, fmt::format("no precision is called '{}'", cell), suggestion(cell, names));
        }
        row.precision = precision.value_or(spec::Precision::fp32);
      } else if (columns_[i] == "gpus" && !cell.empty() && cell != "1") {
        fail(line, fmt::format("a step of {} GPUs includes messages", cell), "use steps of one device");
      } else if (columns_[i] == "time") {
        time = cell;
      }
    }
    if (row.kernel && spec::casts_operands(row.precision))
      fail(line, fmt::format("kernels in {} are not supported", to_string(row.precision)),
           "use kernels of fp32, tf32, fp16 or bf16, or steps of training");
    if (row.batch > 0) row.seconds = seconds_in(time, row.batch);
    if (row.batch > 0 && !(row.seconds > 0)) fail(line, fmt::format("time '{}' is not a time", time), kTimeForm);
    if (errors_.size() == before) rows_.push_back(std::move(row));
  }

  /// Returns the seconds; 0: not a time.
  double seconds_in(const std::string& text, std::int64_t batch) const {
    double seconds = 0;
    if (text.ends_with("/s")) {
      const auto rate = parse_whole<double>(trimmed(std::string_view(text).substr(0, text.size() - 2)));
      if (rate && *rate > 0) seconds = static_cast<double>(batch) / *rate;
    } else if (!text.empty() && !parse_whole<double>(text)) {
      seconds = scenario::parse_quantity(scenario::Unit::seconds, text).value_or(0);
    }
    return std::isfinite(seconds) ? seconds : 0;
  }

  void check_against_each_other() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (std::size_t j = 0; j < i && errors_.size() < kMostFaultsOfSteps; ++j) {
        const MeasuredDeviceStep& a = rows_[j];
        const MeasuredDeviceStep& b = rows_[i];
        if (a.workload != b.workload || a.precision != b.precision) continue;
        const double apart = b.seconds / a.seconds;
        if (a.batch == b.batch && std::max(apart, 1 / apart) > 1 + kRepeatBound) {
          fail(b.line,
               fmt::format("{} with {} samples takes {} here and {} in line {}", b.workload, b.batch,
                           human_seconds(b.seconds), human_seconds(a.seconds), a.line),
               fmt::format("keep one of the two, or measure two within {:.0f} %", 100 * kRepeatBound));
        }
        const MeasuredDeviceStep& small = a.batch < b.batch ? a : b;
        const MeasuredDeviceStep& large = a.batch < b.batch ? b : a;
        if (small.batch < large.batch && large.seconds < small.seconds * (1 - kBatchBound)) {
          fail(b.line,
               fmt::format("{} takes {} with {} samples (line {}), but only {} with {} (line {})", b.workload,
                           human_seconds(small.seconds), small.batch, small.line, human_seconds(large.seconds),
                           large.batch, large.line),
               fmt::format("measure again: more samples must take at least as long, within {:.0f} %",
                           100 * kBatchBound));
        }
      }
    }
  }

  const std::string& file_;
  std::vector<std::string> columns_;
  std::vector<MeasuredDeviceStep> rows_;
  std::vector<Diagnostic> errors_;
  bool said_ = false;
};

}  // namespace

std::optional<MeasuredKernel> parse_measured_kernel(const std::string& text) {
  constexpr std::int64_t kMostRows = 1'000'000'000;
  constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;
  MeasuredKernel kernel;
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return {};
  const std::string kind = text.substr(0, blank);
  const std::string sizes = text.substr(blank + 1);
  if (kind == "attention") {
    kernel.kind = Kind::attention;
  } else if (kind == "pass") {
    kernel.kind = Kind::pass;
  } else if (kind != "product") {
    return {};
  }
  const bool pass = kernel.kind == Kind::pass;
  const std::vector<std::string_view> parts = split_at(sizes, 'x');
  if (parts.size() != (pass ? 1 : kernel.sizes.size())) return {};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto size = parse_whole<std::int64_t>(parts[i], 1, pass ? kMostBytes : kMostRows);
    if (!size) return {};
    kernel.sizes[i] = static_cast<double>(*size);
  }
  return kernel;
}

schedule::Schedule schedule_of(const MeasuredKernel& kernel, spec::Precision precision) {
  const auto& [a, b, c] = kernel.sizes;
  schedule::ComputeTask task;
  task.flops = schedule::PerWorker(flops_of(kernel));
  task.bytes_moved = schedule::PerWorker(bytes_of(kernel, precision));
  task.launches = schedule::PerWorker(1);
  if (kernel.kind == Kind::product) {
    task.weights = b * c;
    task.shape = {.in = c, .out = b};
  } else if (kernel.kind == Kind::attention) {
    task.kind = spec::LayerKind::attention;
    task.shape = {.head_size = c, .seen = b, .fused = true};
  } else {
    task.phase = step::Phase::add;
    task.kind = spec::LayerKind::element_wise;
  }
  schedule::Schedule schedule;
  schedule.workers = 1;
  schedule.precision = precision;
  schedule.tasks.push_back({"", std::move(task)});
  return schedule;
}

double least_seconds(const MeasuredKernel& kernel, const spec::DeviceSpec& device, spec::Precision precision) {
  const double flops = flops_of(kernel);
  return std::max(flops > 0 ? flops / device.peak(precision) : 0,
                  bytes_of(kernel, precision) / device.memory_bandwidth);
}

std::vector<MeasuredDeviceStep> read_measurements(const std::string& file, const std::string& text) {
  return MeasurementReader(file).read(text);
}

namespace {

using spec::DeviceSpec;

/// A constant of a device that may be fitted.
struct FitParameter {
  std::string name;
  std::function<double(const DeviceSpec&)> get;
  std::function<void(DeviceSpec&, double)> set;
  bool share = true;  ///< true: a share of at most 1; false: seconds
};

FitParameter efficiency_parameter(spec::LayerKind kind, spec::Precision precision) {
  return {fmt::format("efficiency of {} in {}", to_string(kind), to_string(precision)),
          [=](const DeviceSpec& device) { return device.efficiency(kind, precision); },
          [=](DeviceSpec& device, double value) {
            for (spec::KindEfficiency& one : device.efficiencies) {
              if (one.kind != kind || one.precision != precision) continue;
              one.share = value;
              return;
            }
            device.efficiencies.push_back({kind, precision, value});
          }};
}

FitParameter member_parameter(std::string name, double DeviceSpec::*member, bool share) {
  return {std::move(name), [=](const DeviceSpec& device) { return device.*member; },
          [=](DeviceSpec& device, double value) { device.*member = value; }, share};
}

using Row = std::vector<double>;

/// Returns x of A x = b, by elimination with pivots; none if A is singular.
std::optional<Row> solved(std::vector<Row> a, Row b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) pivot = std::abs(a[i][k]) > std::abs(a[pivot][k]) ? i : pivot;
    if (!(std::abs(a[pivot][k]) > 1e-14)) return std::nullopt;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

/// Fits a device to measured steps.
class CalibrationFit {
 public:
  explicit CalibrationFit(std::span<const MeasuredDeviceStep> measurements) : measurements_(measurements) {
    const PlainSteps steps;
    for (const MeasuredDeviceStep& one : measurements) {
      schedules_.push_back(
          one.kernel ? schedule_of(*one.kernel, one.precision)
                     : steps.of(spec::workload_registry().find(one.workload)->shape(), one.batch, one.precision));
    }
  }

  const std::vector<schedule::Schedule>& schedules() const { return schedules_; }

  /// Returns log(predicted ÷ measured) per measurement.
  Row residuals(const DeviceSpec& device) const {
    Row result;
    for (std::size_t i = 0; i < schedules_.size(); ++i)
      result.push_back(std::log(seconds_of(device, schedules_[i]) / measurements_[i].seconds));
    return result;
  }

  /// Returns ∂ residual ÷ ∂ log(constant), per measurement.
  Row slope(const DeviceSpec& device, const FitParameter& parameter) const {
    constexpr double kStep = 1e-5;
    const auto moved = [&](double by) {
      DeviceSpec other = device;
      parameter.set(other, parameter.get(device) * std::exp(by));
      return residuals(other);
    };
    // An efficiency is varied downwards only, if a step upwards would exceed 1.
    const double above = parameter.share && parameter.get(device) * std::exp(kStep) > 1 ? 0 : kStep;
    Row high = moved(above);
    const Row low = moved(-kStep);
    for (std::size_t i = 0; i < high.size(); ++i) high[i] = (high[i] - low[i]) / (above + kStep);
    return high;
  }

  /// Returns the relative uncertainty of each constant if every measurement has an error of one per cent; infinity if
  /// the measurements do not determine the constants.
  Row uncertainties(const DeviceSpec& device, const std::vector<FitParameter>& parameters) const {
    constexpr double kOff = 0.01;
    const std::size_t n = parameters.size();
    Row result(n, std::numeric_limits<double>::infinity());
    if (n > schedules_.size()) return result;
    const std::vector<Row> normal = normal_matrix(slopes(device, parameters));
    for (std::size_t i = 0; i < n; ++i) {
      Row unit(n, 0);
      unit[i] = 1;
      const auto column = solved(normal, unit);
      if (column && (*column)[i] > 0) result[i] = kOff * std::sqrt((*column)[i]);
    }
    return result;
  }

  DeviceSpec fitted(DeviceSpec device, const std::vector<FitParameter>& parameters) const {
    if (parameters.empty()) return device;
    double damping = 1e-3;
    Row now = residuals(device);
    for (int round = 0; round < 300 && damping < 1e12; ++round) {
      const std::vector<Row> slope = slopes(device, parameters);
      std::vector<Row> normal = normal_matrix(slope);
      Row gradient(parameters.size());
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] = -std::inner_product(now.begin(), now.end(), slope[i].begin(), 0.0);
        normal[i][i] += damping * (normal[i][i] + 1e-9);
      }
      const auto step = solved(std::move(normal), gradient);
      if (!step) break;
      DeviceSpec next = device;
      double longest = 0;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const double moved = parameters[i].get(device) * std::exp(std::clamp((*step)[i], -1.0, 1.0));
        parameters[i].set(next, parameters[i].share ? std::min(1.0, moved) : moved);
        longest = std::max(longest, std::abs((*step)[i]));
      }
      Row then = residuals(next);
      if (squares(then) < squares(now)) {
        device = std::move(next);
        now = std::move(then);
        damping = std::max(1e-12, damping / 10);
        if (longest < 1e-12) break;
      } else {
        damping *= 10;
      }
    }
    return device;
  }

  static double squares(const Row& values) {
    return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
  }

 private:
  std::vector<Row> slopes(const DeviceSpec& device, const std::vector<FitParameter>& parameters) const {
    std::vector<Row> result;
    for (const FitParameter& one : parameters) result.push_back(slope(device, one));
    return result;
  }

  static std::vector<Row> normal_matrix(const std::vector<Row>& slopes) {
    std::vector<Row> normal(slopes.size(), Row(slopes.size()));
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      for (std::size_t j = 0; j < slopes.size(); ++j)
        normal[i][j] = std::inner_product(slopes[i].begin(), slopes[i].end(), slopes[j].begin(), 0.0);
    }
    return normal;
  }

  std::span<const MeasuredDeviceStep> measurements_;
  std::vector<schedule::Schedule> schedules_;
};

/// Returns the constants in the order in which they are tried: efficiencies by their influence, then memory, ramp,
/// kernels.
std::vector<FitParameter> candidates(const CalibrationFit& fit, const DeviceSpec& base,
                                     std::span<const MeasuredDeviceStep> measured) {
  std::vector<std::pair<double, FitParameter>> efficiencies;
  for (const spec::Precision precision : spec::kPrecisions) {
    if (std::ranges::none_of(measured, [&](const MeasuredDeviceStep& one) { return one.precision == precision; }))
      continue;
    for (const spec::LayerKind kind :
         {spec::LayerKind::dense, spec::LayerKind::convolution, spec::LayerKind::attention}) {
      FitParameter one = efficiency_parameter(kind, precision);
      const double weight = CalibrationFit::squares(fit.slope(base, one));
      if (weight > 0) efficiencies.emplace_back(weight, std::move(one));
    }
  }
  std::ranges::stable_sort(efficiencies, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<FitParameter> all;
  for (auto& [weight, one] : efficiencies) all.push_back(std::move(one));
  all.push_back(member_parameter("memory efficiency", &DeviceSpec::memory_efficiency, true));
  if (base.ramp_seconds > 0) all.push_back(member_parameter("ramp", &DeviceSpec::ramp_seconds, false));
  if (base.launch_overhead > 0) all.push_back(member_parameter("launch overhead", &DeviceSpec::launch_overhead, false));
  return all;
}

bool identified(const Row& uncertainties) {
  return std::ranges::all_of(uncertainties, [](double one) { return one <= kIdentified; });
}

std::string step_in_words(const MeasuredDeviceStep& one) {
  if (one.kernel) return fmt::format("{} in {}", one.workload, to_string(one.precision));
  return fmt::format("{} with {} samples in {}", one.workload, one.batch, to_string(one.precision));
}

/// Throws if a kernel takes less time than the peaks and the bandwidth of the device allow.
void check_kernels(std::span<const MeasuredDeviceStep> measured, const std::string& file, const DeviceSpec& device) {
  std::vector<Diagnostic> errors;
  for (const MeasuredDeviceStep& one : measured) {
    const double least = least_seconds(*one.kernel, device, one.precision);
    if (one.seconds * (1 + kFitBound) >= least || errors.size() >= kMostFaultsOfSteps) continue;
    errors.push_back({file, one.line,
                      fmt::format("{} takes {}, less than the {} that the peaks and bandwidth of this device need",
                                  step_in_words(one), human_seconds(one.seconds), human_seconds(least)),
                      "measure more bytes than caches hold, or give the real rates (--like, --peak, --bandwidth)"});
  }
  if (!errors.empty()) throw InputError(std::move(errors));
}

/// Throws if the fit deviates too much from the measurements. The error names the row with the largest deviation, and
/// the row with the largest one of opposite sign.
void check_residuals(const Row& residuals, std::span<const MeasuredDeviceStep> measured, const std::string& file,
                     const DeviceSpec& device) {
  std::vector<Diagnostic> errors;
  const auto worst = std::ranges::max_element(residuals, {}, [](double one) { return std::abs(one); });
  if (std::abs(*worst) <= kFitBound) return;
  const auto at = static_cast<std::size_t>(worst - residuals.begin());
  const auto other = static_cast<std::size_t>(
      (*worst > 0 ? std::ranges::min_element(residuals) : std::ranges::max_element(residuals)) - residuals.begin());
  const MeasuredDeviceStep& row = measured[at];
  const std::string fitted = human_seconds(row.seconds * std::exp(*worst));
  if (residuals[other] * *worst >= 0) {
    errors.push_back(
        {file, row.line,
         fmt::format("{} takes {}, less than the {} that the peaks and bandwidth of this device need",
                     step_in_words(row), human_seconds(row.seconds), fitted),
         fmt::format("give a time that {} can reach, or its real rates (--like, --peak, --bandwidth)", device.name)});
  } else {
    const MeasuredDeviceStep& against = measured[other];
    errors.push_back(
        {file, row.line,
         fmt::format("{} takes {} here, and {} takes {} in line {}: no device of this kind does both (the "
                     "nearest takes {} and {})",
                     step_in_words(row), human_seconds(row.seconds), step_in_words(against),
                     human_seconds(against.seconds), against.line, fitted,
                     human_seconds(against.seconds * std::exp(residuals[other]))),
         fmt::format("use measurements of one device that one fit meets within {:.0f} %", 100 * kFitBound)});
  }
  throw InputError(std::move(errors));
}

}  // namespace

Calibration calibrate(const DeviceSpec& base, std::span<const MeasuredDeviceStep> measurements,
                      const std::string& file) {
  std::vector<Diagnostic> lacking;
  for (const MeasuredDeviceStep& one : measurements) {
    const bool pass = one.kernel && one.kernel->kind == MeasuredKernel::Kind::pass;
    if (pass || base.peak(one.precision) > 0) continue;
    lacking.push_back({file, one.line, fmt::format("the device has no {}", to_string(one.precision)),
                       fmt::format("use {}, or add --peak {}=…", base.precisions(), to_string(one.precision))});
  }
  if (!lacking.empty()) throw InputError(std::move(lacking));

  const CalibrationFit fit(measurements);
  const std::vector<FitParameter> all = candidates(fit, base, measurements);
  std::vector<FitParameter> assignment;
  DeviceSpec device = base;
  for (const FitParameter& one : all) {
    std::vector<FitParameter> more = assignment;
    more.push_back(one);
    if (!identified(fit.uncertainties(device, more))) continue;
    DeviceSpec next = fit.fitted(device, more);
    if (!identified(fit.uncertainties(next, more))) continue;
    device = std::move(next);
    assignment = std::move(more);
  }
  const Row residuals = fit.residuals(device);
  const bool kernels = !measurements.empty() && measurements.front().kernel.has_value();
  if (kernels) {
    check_kernels(measurements, file, device);
  } else {
    check_residuals(residuals, measurements, file, device);
  }

  std::vector<std::string> workloads;
  if (kernels) workloads.emplace_back("kernels");
  for (const MeasuredDeviceStep& one : measurements) {
    if (kernels) break;
    if (std::ranges::find(workloads, one.workload) == workloads.end()) workloads.push_back(one.workload);
  }
  Calibration result{.device = device, .constants = {}, .seconds = {}, .spread = 0};
  const Row uncertain = fit.uncertainties(device, assignment);
  for (const FitParameter& one : all) {
    const auto found = std::ranges::find(assignment, one.name, &FitParameter::name);
    CalibratedConstant constant{one.name, one.get(device), found != assignment.end(), !one.share,
                                std::numeric_limits<double>::quiet_NaN()};
    if (constant.fitted) constant.uncertainty = uncertain[static_cast<std::size_t>(found - assignment.begin())];
    result.constants.push_back(std::move(constant));
  }
  for (const FitParameter& one : assignment) {
    for (spec::KindEfficiency& efficiency : result.device.efficiencies) {
      if (efficiency.precision && one.name == efficiency_parameter(efficiency.kind, *efficiency.precision).name)
        efficiency.source = fmt::format("one's own measurements: {}", fmt::join(workloads, ", "));
    }
  }
  for (std::size_t i = 0; i < residuals.size(); ++i)
    result.seconds.push_back(measurements[i].seconds * std::exp(residuals[i]));
  result.spread = std::sqrt(CalibrationFit::squares(residuals) / static_cast<double>(residuals.size()));
  if (!kernels) return result;
  result.of_products = sim::kTrainingOfBestProduct;
  for (const FitParameter& one : assignment) {
    for (spec::KindEfficiency& efficiency : result.device.efficiencies) {
      if (efficiency.kind == spec::LayerKind::dense && efficiency.precision &&
          one.name == efficiency_parameter(efficiency.kind, *efficiency.precision).name)
        efficiency.share *= result.of_products;
    }
  }
  return result;
}

}  // namespace dadsim::study
