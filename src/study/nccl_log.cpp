#include "study/nccl_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "support/diagnostics.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kForm = "what all_reduce_perf and the others of nccl-tests write to standard output";
constexpr double kMicrosecond = 1e-6;
constexpr double kGigabyte = 1e9;

/// mpirun --tag-output: "[1,0]<stdout>: text".
std::string_view without_tag(std::string_view line) {
  const std::size_t end = line.find("<stdout>:");
  if (!line.starts_with('[') || end == std::string_view::npos) return line;
  return line.substr(end + std::string_view("<stdout>:").size());
}

std::optional<double> number_of(const std::string& word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Where the columns of a table are that are read.
struct Columns {
  std::size_t count = 0;
  std::size_t size = 0;
  std::vector<std::size_t> time, algorithm_bandwidth, bus_bandwidth;  ///< out of place, in place
};

/// "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong"
std::optional<Columns> columns_of(const std::vector<std::string>& heading) {
  Columns columns;
  columns.count = heading.size();
  bool sized = false;
  for (std::size_t i = 0; i < heading.size(); ++i) {
    if (heading[i] == "size" && !sized) {
      columns.size = i;
      sized = true;
    }
    if (heading[i] == "time") columns.time.push_back(i);
    if (heading[i] == "algbw") columns.algorithm_bandwidth.push_back(i);
    if (heading[i] == "busbw") columns.bus_bandwidth.push_back(i);
  }
  if (!sized || columns.time.empty() || columns.time.size() != columns.algorithm_bandwidth.size() ||
      columns.time.size() != columns.bus_bandwidth.size()) {
    return std::nullopt;
  }
  return columns;
}

class NcclLogReader {
 public:
  explicit NcclLogReader(const std::string& file) : file_(file) {}

  NcclLog read(const std::string& text) {
    for (const std::string_view line : lines_of(text)) {
      ++number_;
      const std::vector<std::string> words = words_of(without_tag(line));
      if (words.empty()) continue;
      if (words[0].starts_with('#')) {
        read_remark(words);
      } else if (columns_ && number_of(words[0])) {
        read_row(words);
      }
    }
    if (!columns_) throw InputError({file_, 0, "has no table of nccl-tests", kForm});
    if (log_.rows.empty()) throw InputError({file_, 0, "has a table of nccl-tests without a row", kForm});
    if (ranks_ > 0) log_.ranks = ranks_;
    return std::move(log_);
  }

 private:
  void read_remark(const std::vector<std::string>& words) {
    for (std::string word : words) {
      while (!word.empty() && word.front() == '#') word.erase(0, 1);
      if (word.ends_with("_perf") && log_.test.empty()) log_.test = word;
    }
    // "#  Rank  0 Group  0 Pid  1234 on  node0 device  0 [0x07] NVIDIA A100"
    if (words.size() > 3 && words[1] == "Rank" && number_of(words[2])) ++ranks_;
    std::vector<std::string> heading(words.begin() + 1, words.end());
    if (words[0] != "#") heading.insert(heading.begin(), words[0].substr(1));
    if (!columns_) columns_ = columns_of(heading);
  }

  void read_row(const std::vector<std::string>& words) {
    if (words.size() != columns_->count) {
      throw InputError({file_, number_,
                        fmt::format("has {} columns, and the heading {}", words.size(), columns_->count),
                        "a row as nccl-tests write it"});
    }
    NcclLog::Row row;
    row.line = number_;
    row.size = value_in(words, columns_->size);
    if (row.size <= 0) return;
    row.seconds = time_in(words, columns_->time.front());
    row.algorithm_bandwidth = kGigabyte * value_in(words, columns_->algorithm_bandwidth.front());
    row.bus_bandwidth = kGigabyte * value_in(words, columns_->bus_bandwidth.front());
    if (columns_->time.size() > 1) row.in_place_seconds = time_in(words, columns_->time[1]);
    if (std::ranges::find(log_.rows, row.size, &NcclLog::Row::size) == log_.rows.end()) log_.rows.push_back(row);
  }

  double value_in(const std::vector<std::string>& words, std::size_t column) const {
    const std::optional<double> value = number_of(words[column]);
    if (value && *value >= 0) return *value;
    throw InputError({file_, number_, fmt::format("'{}' in column {} is no number", words[column], column + 1),
                      "a row as nccl-tests write it"});
  }

  double time_in(const std::vector<std::string>& words, std::size_t column) const {
    const double microseconds = value_in(words, column);
    if (microseconds > 0) return microseconds * kMicrosecond;
    throw InputError({file_, number_, fmt::format("'{}' in column {} is no time", words[column], column + 1),
                      "microseconds above 0"});
  }

  const std::string& file_;
  int number_ = 0;
  std::size_t ranks_ = 0;
  std::optional<Columns> columns_;
  NcclLog log_;
};

}  // namespace

NcclLog read_nccl_log(const std::string& file, const std::string& text) { return NcclLogReader(file).read(text); }

}  // namespace dadsim::study
