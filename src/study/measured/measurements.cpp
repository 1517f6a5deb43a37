#include "study/measured/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "support/diagnostics.hpp"
#include "support/human.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kTimeForm = "the time of a step with its unit, as 321ms, or samples per second, as 398/s";
constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::size_t kMostBytesOfLineOfSteps = 65'536;
constexpr std::size_t kMostRowsOfSteps = 10'000;
constexpr std::size_t kMostFaultsOfSteps = 20;  // that are listed

std::string trimmed(std::string_view text) {
  constexpr const char* kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kBlank) - begin + 1));
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = line.find(',', begin);
    cells.push_back(trimmed(std::string_view(line).substr(begin, end == std::string::npos ? end : end - begin)));
  }
  return cells;
}

/// A file of measurements as it is read, with all that is wrong with it.
class MeasurementReader {
 public:
  MeasurementReader(const std::string& file, const scenario::Catalog& catalog) : file_(file), catalog_(catalog) {}

  std::vector<MeasuredDeviceStep> read(const std::string& text) {
    int number = 0;
    for (const std::string_view said : lines_of(text)) {
      ++number;
      if (said.size() > kMostBytesOfLineOfSteps || rows_.size() == kMostRowsOfSteps)
        throw InputError({file_, number, "more than 64 KiB in a line, or 10,000 lines", "fewer measurements"});
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
      fail(0, "no measurements", "a first line of columns, as workload,batch,time, and a line for each");
    if (!columns_.empty() && rows_.empty() && errors_.empty())
      fail(number, "no measurement below the columns", "a line for each");
    check_against_each_other();
    if (!errors_.empty()) throw InputError(std::move(errors_));
    return std::move(rows_);
  }

 private:
  void fail(int line, std::string what, std::string remedy) {
    errors_.push_back({file_, line, std::move(what), std::move(remedy)});
  }

  void read_header(int line, const std::string& text) {
    static const std::vector<std::string> kKnown{"workload", "batch", "time", "precision", "gpus"};
    columns_ = cells_of(text);
    for (const std::string& column : columns_) {
      if (std::ranges::find(kKnown, column) == kKnown.end())
        fail(line, fmt::format("no column is called '{}'", column), suggestion(column, kKnown));
      if (std::ranges::count(columns_, column) > 1 && !said_)
        fail(line, fmt::format("column '{}' twice", column), "each once");
      said_ = said_ || std::ranges::count(columns_, column) > 1;
    }
    for (const char* needed : {"workload", "batch", "time"}) {
      if (std::ranges::find(columns_, needed) == columns_.end())
        fail(line, fmt::format("no column '{}'", needed), "workload,batch,time in the first line");
    }
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
      if (columns_[i] == "workload") {
        row.workload = cell;
        if (std::ranges::find(catalog_.workloads, cell) == catalog_.workloads.end())
          fail(line, fmt::format("no workload is called '{}'", cell), suggestion(cell, catalog_.workloads));
      } else if (columns_[i] == "batch") {
        row.batch = parse_whole<std::int64_t>(cell).value_or(0);
        if (row.batch < 1 || row.batch > kMostSamples)
          fail(line, fmt::format("batch '{}' is no number of samples", cell), "a whole number from 1 on");
      } else if (columns_[i] == "precision" && !cell.empty()) {
        const auto precision = spec::parse<spec::Precision>(cell);
        if (!precision) {
          std::vector<std::string> names;
          for (const spec::Precision one : spec::kPrecisions) names.emplace_back(to_string(one));
          fail(line, fmt::format("no precision is called '{}'", cell), suggestion(cell, names));
        }
        row.precision = precision.value_or(spec::Precision::fp32);
      } else if (columns_[i] == "gpus" && !cell.empty() && cell != "1") {
        fail(line, fmt::format("a step of {} GPUs, in which messages take part", cell), "steps of one device alone");
      } else if (columns_[i] == "time") {
        time = cell;
      }
    }
    if (row.batch > 0) row.seconds = seconds_in(time, row.batch);
    if (row.batch > 0 && !(row.seconds > 0)) fail(line, fmt::format("time '{}' is none", time), kTimeForm);
    if (errors_.size() == before) rows_.push_back(std::move(row));
  }

  /// 0: it is no time.
  double seconds_in(const std::string& text, std::int64_t batch) const {
    double seconds = 0;
    if (text.ends_with("/s")) {
      const auto rate = parse_whole<double>(trimmed(std::string_view(text).substr(0, text.size() - 2)));
      if (rate && *rate > 0) seconds = static_cast<double>(batch) / *rate;
    } else if (!text.empty() && !parse_whole<double>(text)) {
      seconds = catalog_.parse_unit(scenario::Catalog::Unit::seconds, text).value_or(0);
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
               fmt::format("one of the two, or both within {:.0f} %", 100 * kRepeatBound));
        }
        const MeasuredDeviceStep& small = a.batch < b.batch ? a : b;
        const MeasuredDeviceStep& large = a.batch < b.batch ? b : a;
        if (small.batch < large.batch && large.seconds < small.seconds * (1 - kBatchBound)) {
          fail(b.line,
               fmt::format("{} takes {} with {} samples (line {}) and {}, which is less, with {} (line {})", b.workload,
                           human_seconds(small.seconds), small.batch, small.line, human_seconds(large.seconds),
                           large.batch, large.line),
               fmt::format("more samples take no less time, to within {:.0f} %", 100 * kBatchBound));
        }
      }
    }
  }

  const std::string& file_;
  const scenario::Catalog& catalog_;
  std::vector<std::string> columns_;
  std::vector<MeasuredDeviceStep> rows_;
  std::vector<Diagnostic> errors_;
  bool said_ = false;
};

}  // namespace

std::vector<MeasuredDeviceStep> read_measurements(const std::string& file, const std::string& text,
                                                  const scenario::Catalog& catalog) {
  return MeasurementReader(file, catalog).read(text);
}

}  // namespace dadsim::study
