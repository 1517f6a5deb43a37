#include "study/diagnose/read_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "study/measured/collective_log.hpp"
#include "support/diagnostics.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

/// Step figures from the output of a training program.
struct TrainerLog {
  std::string program;                    ///< name of the program
  std::optional<MeasuredStep> step = {};  ///< figures of a step; none: no line has one
  std::string missing = {};               ///< names of the log lines that would contain the figure
};

enum class Figure : std::uint8_t { none, seconds, milliseconds, steps_per_second, tokens_per_device, samples, percent };

/// Pattern of a log line: it contains `marker`, and the figure follows `key`.
struct TrainerLine {
  const char* program;
  const char* marker;
  const char* key;
  Figure figure;
};
constexpr const char* kTitan = "torchtitan";
constexpr const char* kTune = "torchtune";
constexpr const char* kMegatron = "Megatron-LM";
constexpr const char* kTrainer = "Hugging Face's Trainer";
constexpr const char* kDeepSpeed = "DeepSpeed";
/// Log lines with a figure, per program the most precise first.
constexpr std::array kTrainerLines{
    TrainerLine{kMegatron, "elapsed time per iteration", "(ms):", Figure::milliseconds},
    TrainerLine{"NeMo", "train_step_timing in s", "train_step_timing in s", Figure::seconds},
    TrainerLine{"MaxText", "completed step:", "seconds:", Figure::seconds},
    TrainerLine{kTune, "tokens_per_second_per_gpu", "tokens_per_second_per_gpu", Figure::tokens_per_device},
    TrainerLine{kTrainer, "train_steps_per_second", "train_steps_per_second", Figure::steps_per_second},
    TrainerLine{kDeepSpeed, "iter time (s)", "iter time (s):", Figure::seconds},
    TrainerLine{kDeepSpeed, "SamplesPerSec=", "CurrSamplesPerSec=", Figure::samples},
    TrainerLine{kDeepSpeed, "SamplesPerSec=", "SamplesPerSec=", Figure::samples},
    TrainerLine{"nanoGPT", ": loss ", ", time ", Figure::seconds},
    TrainerLine{"modded-nanogpt", "step_avg:", "step_avg:", Figure::seconds},
    TrainerLine{"nanochat", "| dt:", "| dt:", Figure::seconds},
    TrainerLine{"OLMo", "throughput/device/", "throughput/device/batches_per_second", Figure::steps_per_second},
    TrainerLine{"Composer", "throughput/batches_per_sec", "throughput/batches_per_sec", Figure::steps_per_second},
    TrainerLine{"fairseq", "ups=", "ups=", Figure::steps_per_second},
    TrainerLine{"fairseq", "\"ups\":", "\"ups\":", Figure::steps_per_second},
    TrainerLine{"tf_cnn_benchmarks", "total images/sec:", "total images/sec:", Figure::samples},
    TrainerLine{"timm", "Train: ", "Time:", Figure::seconds},
    TrainerLine{"PyTorch's ImageNet example", "Epoch: [", "Time", Figure::seconds},
    // Log lines that identify a program but contain no speed.
    TrainerLine{kTrainer, "'loss':", "", Figure::none},
    TrainerLine{kDeepSpeed, "[Rank 0] step=", "", Figure::none},
    TrainerLine{kTune, "| loss:", "", Figure::none},
    TrainerLine{kMegatron, "consumed samples:", "", Figure::none},
    TrainerLine{kTitan, "loss:", "tps:", Figure::tokens_per_device},
    TrainerLine{kTitan, "loss:", "wps:", Figure::tokens_per_device},
    TrainerLine{kTitan, "loss:", "mfu:", Figure::percent},
};
constexpr const char* kBar = "a progress bar";
constexpr double kRounded = 0.025;
constexpr std::size_t kLeastDecimals = 3;  // number of decimals assumed for a number with a point that has fewer

/// Returns true for the microsecond: "us", "µs" with the micro sign (U+00B5) or with the Greek letter (U+03BC).
bool is_microseconds(std::string_view unit) {
  return unit.starts_with("us") || unit.starts_with("\xc2\xb5s") || unit.starts_with("\xce\xbcs");
}

/// Parses a number at the start of a text, with its unit of time if any: "5,762", "'0.25'", "123.45ms". None if there
/// is no positive number, or if its last digit is too coarse (kRounded).
std::optional<double> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t:='\""), text.size()));
  std::string digits;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    const bool thousands =
        c == ',' && i + 3 < text.size() &&
        std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    text.begin() + static_cast<std::ptrdiff_t>(i) + 4, [](char d) { return d >= '0' && d <= '9'; });
    if (thousands) continue;
    if ((c < '0' || c > '9') && c != '.') break;
    digits += c;
  }
  const std::optional<double> number = parse_whole<double>(digits);
  if (!number || !(*number > 0) || !std::isfinite(*number)) return std::nullopt;
  const std::size_t point = digits.find('.');
  // Python drops trailing zeros: 0.250 is printed as 0.25.
  const std::size_t decimals = point == std::string::npos ? 0 : std::max(digits.size() - 1 - point, kLeastDecimals);
  if (0.5 * std::pow(10, -static_cast<double>(decimals)) > kRounded * *number) return std::nullopt;
  const std::string_view unit = text.substr(i);
  return *number * (unit.starts_with("ms") ? 1e-3 : is_microseconds(unit) ? 1e-6 : 1);
}

double median_of(std::vector<double> values) {
  if (values.size() >= 3) values.erase(values.begin());
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

MeasuredStep step_of(Figure figure, double value) {
  switch (figure) {
    case Figure::tokens_per_device:
      return {.tokens_per_second_per_device = value};
    case Figure::samples:
      return {.samples_per_second = value};
    case Figure::percent:
      return {.utilisation = value / 100};
    case Figure::steps_per_second:
      return {.step_seconds = 1 / value};
    case Figure::milliseconds:
      return {.step_seconds = value / 1000};
    case Figure::seconds:
    case Figure::none:
      break;
  }
  return {.step_seconds = value};
}

/// Reads progress bars: " 12/1200 [00:48<1:19:12,  4.00s/it, loss=1.1]". Of several bars (training, evaluation,
/// loading), the longest-running one is taken as training.
class Bars {
 public:
  void take(std::string_view line) {
    const std::size_t open = line.find('[', std::min(line.find('/'), line.size()));
    const std::size_t left = line.find('<', std::min(open, line.size()));
    const std::size_t comma = line.find(',', std::min(left, line.size()));
    if (comma == std::string_view::npos) return;
    const std::size_t slash = line.rfind('/', open);
    const auto total = parse_whole<std::int64_t>(line.substr(slash + 1, line.find_first_of(" [", slash) - slash - 1));
    if (!total) return;
    double elapsed = 0;
    for (const std::string_view part : split_at(line.substr(open + 1, left - open - 1), ':'))
      elapsed = 60 * elapsed + parse_whole<double>(part).value_or(0);
    std::string_view rate = line.substr(comma + 1);
    const std::optional<double> number = leading_number(rate);
    rate.remove_prefix(std::min(rate.find_first_not_of(" 0123456789."), rate.size()));
    if (!number || (!rate.starts_with("s/it") && !rate.starts_with("it/s"))) return;
    OfTotal& bar = of_total_[*total];
    bar.elapsed = std::max(bar.elapsed, elapsed);
    bar.seconds.push_back(rate.starts_with("s/it") ? *number : 1 / *number);
  }

  std::vector<double> seconds() const {
    const auto longest = std::ranges::max_element(of_total_, {}, [](const auto& one) { return one.second.elapsed; });
    return longest == of_total_.end() ? std::vector<double>() : longest->second.seconds;
  }

 private:
  struct OfTotal {
    double elapsed = 0;
    std::vector<double> seconds;  ///< seconds per step, one value per update of the bar
  };
  std::map<std::int64_t, OfTotal> of_total_;
};

/// Reads the speed from lines of training programs and from progress bars (tqdm). Takes the median of several lines; of
/// three or more, the first is left out because it includes the start. Ignores figures rounded to more than 2.5 %.
/// Returns nothing if no line is known.
std::optional<TrainerLog> read_trainer_log(std::string_view text) {
  std::array<std::vector<double>, kTrainerLines.size()> values;
  std::array<bool, kTrainerLines.size()> seen{};
  Bars bars;
  for (const std::string_view whole : lines_of(text)) {
    for (const std::string_view line : lines_of(whole, '\r')) {
      for (std::size_t i = 0; i < kTrainerLines.size(); ++i) {
        const TrainerLine& one = kTrainerLines[i];
        if (line.find(one.marker) == std::string_view::npos) continue;
        seen[i] = true;
        const std::size_t key = *one.key == '\0' ? std::string_view::npos : line.find(one.key);
        if (key == std::string_view::npos) continue;
        if (const auto number = leading_number(line.substr(key + std::string_view(one.key).size())))
          values[i].push_back(*number);
      }
      if (line.find("it/s") != std::string_view::npos || line.find("s/it") != std::string_view::npos) bars.take(line);
    }
  }
  for (std::size_t i = 0; i < kTrainerLines.size(); ++i) {
    const TrainerLine& one = kTrainerLines[i];
    if (!values[i].empty()) return TrainerLog{one.program, step_of(one.figure, median_of(values[i]))};
  }
  if (const std::vector<double> seconds = bars.seconds(); !seconds.empty())
    return TrainerLog{kBar, step_of(Figure::seconds, median_of(seconds))};
  const auto first = std::ranges::find(seen, true);
  if (first == seen.end()) return std::nullopt;
  TrainerLog log{kTrainerLines[static_cast<std::size_t>(first - seen.begin())].program};
  std::vector<std::string_view> keys;
  for (const TrainerLine& one : kTrainerLines) {
    if (one.program != log.program || one.figure == Figure::none) continue;
    const std::string_view key = one.key;
    keys.push_back(
        key.substr(key.find_first_not_of(" ,|"), key.find_last_not_of(" :=") + 1 - key.find_first_not_of(" ,|")));
  }
  log.missing = fmt::format("{} or {} (tqdm)", fmt::join(keys, ", "), kBar);
  return log;
}

/// Returns the names of the supported programs, in words.
std::string programs_with_logs() {
  std::vector<std::string_view> names;
  for (const TrainerLine& one : kTrainerLines) {
    if (std::ranges::find(names, one.program) == names.end()) names.emplace_back(one.program);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Returns the seconds of an entry "12.345ms" in a profiler's table.
std::optional<double> seconds_in(const std::string& word) {
  const std::size_t unit = word.find_first_not_of("0123456789.");
  const std::optional<double> number = parse_whole<double>(std::string_view(word).substr(0, unit));
  if (!number || unit == std::string::npos) return std::nullopt;
  const std::string name = word.substr(unit);
  if (name == "s") return *number;
  if (name == "ms") return *number * 1e-3;
  if (is_microseconds(name)) return *number * 1e-6;
  return std::nullopt;
}

/// Splits a row into cells separated by two or more blanks.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return cells;
    line.remove_prefix(begin);
    std::size_t end = std::min(line.find("  "), line.size());
    std::string cell(line.substr(0, end));
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r')) cell.pop_back();
    cells.push_back(std::move(cell));
    line.remove_prefix(end);
  }
}

std::optional<Measurement> table_of_profiler(const std::string& file, std::string_view text) {
  std::optional<std::size_t> self, average, calls;
  formats::ProfiledStep profile;
  double steps = 0;
  double kernels = 0;
  double collectives = 0;
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) continue;
    if (cells.front() == "Name") {
      const auto column = [&](std::string_view name) -> std::optional<std::size_t> {
        const auto found = std::ranges::find(cells, name);
        if (found == cells.end()) return std::nullopt;
        return static_cast<std::size_t>(found - cells.begin());
      };
      self = column("Self CUDA");
      average = column("CPU time avg");
      calls = column("# of Calls");
      continue;
    }
    if (!self || !calls || cells.size() <= std::max(*self, *calls)) continue;
    if (cells.front() == "ProfilerStep*") {
      steps = parse_whole<double>(cells[*calls]).value_or(0);
      if (average) profile.step = seconds_in(cells[*average]);
      continue;
    }
    const std::optional<double> seconds = seconds_in(cells[*self]);
    if (!seconds) continue;
    // Rows without processor time are kernels: they repeat the device time of their operator.
    const bool kernel = cells.size() > 1 && seconds_in(cells[1]).value_or(0) == 0;
    if (!kernel) continue;
    kernels += *seconds;
    if (cells.front().starts_with("nccl") && cells.front().find(':') == std::string::npos) collectives += *seconds;
  }
  if (!self) return std::nullopt;
  if (!(steps > 0) || !(kernels > 0)) {
    throw InputError({file, 0, "has a table of torch.profiler without a row ProfilerStep* or without kernels",
                      "call prof.step() after each step, and print key_averages().table() of a profile with CUDA"});
  }
  profile.steps = static_cast<std::size_t>(steps);
  profile.computing = (kernels - collectives) / steps;
  profile.communicating = collectives / steps;
  Measurement measured{.source = file, .steps = {{.step_seconds = profile.step}}};
  measured.profile = profile;
  return measured;
}

std::optional<Measurement> trace_of_profiler(const std::string& file, const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') return std::nullopt;
  try {
    const std::optional<formats::ProfiledStep> profile = formats::profile_of_trace(text);
    if (!profile) return std::nullopt;
    Measurement measured{.source = file, .steps = {{.step_seconds = profile->step}}};
    measured.profile = profile;
    return measured;
  } catch (const std::runtime_error& error) {
    throw InputError({file, 0, error.what(), "use a trace of torch.profiler with CUDA activity and prof.step()"});
  }
}

}  // namespace

std::optional<formats::ProfiledStep> read_profile(const std::string& file, const std::string& text) {
  if (const std::optional<Measurement> trace = trace_of_profiler(file, text)) return trace->profile;
  if (const std::optional<Measurement> table = table_of_profiler(file, text)) return table->profile;
  return std::nullopt;
}

Measurement read_log(const std::string& file, const std::string& text) {
  if (std::optional<Measurement> trace = trace_of_profiler(file, text)) return std::move(*trace);
  if (std::optional<Measurement> table = table_of_profiler(file, text)) return std::move(*table);
  const std::optional<TrainerLog> trainer = read_trainer_log(text);
  if (trainer && trainer->step) return {.source = file, .steps = {*trainer->step}};
  if (std::optional<CollectiveLog> log = find_collective_log(file, text))
    return {.source = file, .collective_log = std::move(*log)};
  constexpr const char* kByHand = "give the number with --step, --samples-per-second, --tokens-per-second or --mfu";
  if (trainer)
    throw InputError({file, 0, fmt::format("is a log of {} without {}", trainer->program, trainer->missing),
                      fmt::format("use another part of the log, or {}", kByHand)});
  throw InputError({file, 0, "is not a log that dadsim reads",
                    fmt::format("use the log of a training by {}; a profile of torch.profiler; a table of {}; or {}",
                                programs_with_logs(), kCollectiveBenchmarks, kByHand)});
}

}  // namespace dadsim::study
