#include "study/measured/nccl_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <string_view>

#include "support/diagnostics.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kForm = "what all_reduce_perf and the others of nccl-tests write to standard output";
constexpr const char* kRowForm = "a row as nccl-tests write it";
constexpr double kMicrosecond = 1e-6;
constexpr double kMillisecond = 1e-3;
constexpr double kGigabyte = 1e9;
constexpr std::size_t kMostFaults = 20;
/// By which a bandwidth may be off its size ÷ time beside what both were rounded by.
constexpr double kSlack = 0.02;

/// The programs of nccl-tests (src/*.cu), which may be built as …_mpi beside.
constexpr std::array<std::string_view, 11> kTests{
    "all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "broadcast_perf", "reduce_perf",   "alltoall_perf",
    "alltoallv_perf",  "gather_perf",     "scatter_perf",        "sendrecv_perf",  "hypercube_perf"};

/// The name of a test that a word is, with or without its path; else empty.
std::string test_in(std::string_view word) {
  word.remove_prefix(std::min(word.find_last_of("/#") + 1, word.size()));
  if (word.ends_with("_mpi")) word.remove_suffix(4);
  return std::ranges::find(kTests, word) == kTests.end() ? std::string() : std::string(word);
}

std::optional<double> number_of(std::string_view word) {
  const std::optional<double> value = parse_whole<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Half of what the last digit of a number stands for: "12.50" 0.005, "1e+07" 5e6.
double half_a_digit(std::string_view word) {
  const std::size_t e = std::min(word.find_first_of("eE"), word.size());
  const std::size_t point = word.substr(0, e).find('.');
  const double decimals = point == std::string_view::npos ? 0 : static_cast<double>(e - point - 1);
  std::string_view exponent = word.substr(std::min(e + 1, word.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  return 0.5 * std::pow(10, number_of(exponent).value_or(0) - decimals);
}

bool is_whole(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool begins_with_letter(std::string_view word) {
  return !word.empty() && std::isalpha(static_cast<unsigned char>(word.front())) != 0;
}

/// The words of a line without colours (ECMA-48: ESC [ … letter) and without what mpirun puts before it glued to what
/// follows ("[1,0]<stdout>:text").
std::vector<std::string> words_of_line(std::string_view line) {
  std::string plain;
  while (!line.empty()) {
    const std::size_t escape = std::min(line.find("\x1b["), line.size());
    plain += line.substr(0, escape);
    line.remove_prefix(escape);
    if (line.empty()) break;
    const std::size_t end = line.find_first_not_of("0123456789;?", 2);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  std::string_view rest = plain;
  for (const std::string_view stream : {"<stdout>", "<stderr>"}) {
    const std::size_t at = rest.find(stream);
    if (at == std::string_view::npos) continue;
    rest.remove_prefix(at + stream.size());
    if (rest.starts_with(':')) rest.remove_prefix(1);
  }
  return words_of(rest);
}

/// Where the columns of a table are that are read.
struct Columns {
  std::size_t count = 0;
  std::size_t size = 0, elements = 0, type = 0;
  std::vector<std::size_t> time, algorithm_bandwidth, bus_bandwidth, wrong;  ///< out of place, in place
  double unit = kMicrosecond;                                                ///< seconds, of the times
};

/// "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong", behind whatever label; or
/// "#  bytes  N  type  op  time  algbw  busbw  res …" of the tests of NCCL 1 and 2.0, whose times are milliseconds.
std::optional<Columns> columns_of(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  Columns columns;
  for (std::string word : words) {
    if (names.empty()) {
      while (word.starts_with('#')) word.erase(0, 1);
      if (word != "size" && word != "bytes") continue;
      if (word == "bytes") columns.unit = kMillisecond;
    }
    names.push_back(std::move(word));
  }
  columns.count = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "count" || names[i] == "N") columns.elements = i;
    if (names[i] == "type") columns.type = i;
    if (names[i] == "time") columns.time.push_back(i);
    if (names[i] == "algbw") columns.algorithm_bandwidth.push_back(i);
    if (names[i] == "busbw") columns.bus_bandwidth.push_back(i);
    if (names[i] == "#wrong") columns.wrong.push_back(i);
  }
  if (columns.elements == 0 || columns.type == 0 || columns.time.empty() ||
      columns.time.size() != columns.algorithm_bandwidth.size() ||
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
      const std::vector<std::string> words = words_of_line(line);
      if (const auto columns = columns_of(words)) {
        begin_table(*columns);
      } else if (const auto begin = row_in(words)) {
        read_row({words.begin() + static_cast<std::ptrdiff_t>(*begin), words.end()});
      } else {
        read_remark(words);
      }
    }
    if (!columns_) fail(0, "has no table of nccl-tests", kForm);
    std::erase_if(log_.tables, [](const NcclLog::Table& table) { return table.rows.empty(); });
    if (log_.tables.empty() && faults_.empty()) fail(0, "has a table of nccl-tests without a row", kForm);
    if (!faults_.empty()) throw InputError(std::move(faults_));
    return std::move(log_);
  }

 private:
  void fail(int line, std::string what, std::string remedy) {
    if (faults_.size() < kMostFaults) faults_.push_back({file_, line, std::move(what), std::move(remedy)});
  }

  void begin_table(const Columns& columns) {
    columns_ = columns;
    // Several processes may have written the heading before the first row.
    if (log_.tables.empty() || !log_.tables.back().rows.empty()) log_.tables.emplace_back();
    NcclLog::Table& table = log_.tables.back();
    table.line = number_;
    if (!test_.empty()) table.test = std::exchange(test_, {});
    if (!ranks_.empty()) table.ranks = ranks_.size();
    ranks_.clear();
  }

  /// Where a row begins behind whatever label: with a size, a number of elements and a type.
  std::optional<std::size_t> row_in(const std::vector<std::string>& words) const {
    if (!columns_) return std::nullopt;
    const std::size_t last = std::max(columns_->elements, columns_->type);
    for (std::size_t i = 0; i + last < words.size(); ++i) {
      if (words[i].starts_with('#')) return std::nullopt;
      if (is_whole(words[i]) && is_whole(words[i + columns_->elements]) &&
          begins_with_letter(words[i + columns_->type]))
        return i;
    }
    // One that is cut off.
    if (!words.empty() && std::ranges::all_of(words, is_whole)) return 0;
    return std::nullopt;
  }

  void read_remark(const std::vector<std::string>& words) {
    const auto says = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
    for (std::size_t i = 0; i < words.size(); ++i) {
      // What is built is not yet what is run.
      if (const std::string test = says("Linking") ? std::string() : test_in(words[i]); !test.empty()) {
        if (!says("concluded:"))
          test_ = test;
        else if (!log_.tables.empty())
          log_.tables.back().test = test;
      }
      // "#  Rank  0 Group  0 Pid  1234 on  node0 device  0 [0x07] NVIDIA A100"
      if ((words[i] == "Rank" || words[i] == "#Rank") && i + 1 < words.size() && is_whole(words[i + 1]) &&
          says("device"))
        ranks_.insert(words[i + 1]);
    }
    // "# Out of bounds values : 3 FAILED"
    if (says("bounds") && says("FAILED")) {
      fail(number_, "says that results were out of bounds", "a run whose results are right");
    }
  }

  void read_row(const std::vector<std::string>& words) {
    if (words.size() != columns_->count) {
      return fail(number_, fmt::format("has {} columns, and the heading {}", words.size(), columns_->count), kRowForm);
    }
    NcclLog::Row row;
    row.line = number_;
    row.size = *number_of(words[columns_->size]);
    if (row.size <= 0) return;
    const std::size_t faults = faults_.size();
    row.seconds = time_in(words, 0);
    row.algorithm_bandwidth = kGigabyte * value_in(words, columns_->algorithm_bandwidth.front());
    row.bus_bandwidth = kGigabyte * value_in(words, columns_->bus_bandwidth.front());
    if (columns_->time.size() > 1 && words[columns_->time[1]] != "N/A") row.in_place_seconds = time_in(words, 1);
    for (const std::size_t column : columns_->wrong) {
      if (const auto wrong = number_of(words[column]); wrong && *wrong > 0) {
        fail(number_, fmt::format("'{}' values came out wrong", words[column]),
             "a run whose results are right (0 in #wrong)");
      }
    }
    if (faults_.size() == faults) log_.tables.back().rows.push_back(row);
  }

  double value_in(const std::vector<std::string>& words, std::size_t column) {
    const std::optional<double> value = number_of(words[column]);
    if (value && *value >= 0) return *value;
    fail(number_, fmt::format("'{}' in column {} is no number", words[column], column + 1), kRowForm);
    return 0;
  }

  /// Out of place (0) or in place (1), seconds.
  double time_in(const std::vector<std::string>& words, std::size_t which) {
    const std::size_t column = columns_->time[which];
    const std::size_t faults = faults_.size();
    const double time = value_in(words, column);
    if (faults_.size() > faults) return 0;
    const char* unit = columns_->unit == kMicrosecond ? "microseconds" : "milliseconds";
    if (!(time > 0)) {
      fail(number_, fmt::format("'{}' in column {} is no time", words[column], column + 1),
           fmt::format("{} above 0", unit));
      return 0;
    }
    const std::string& said = words[columns_->algorithm_bandwidth[which]];
    const double bandwidth = value_in(words, columns_->algorithm_bandwidth[which]);
    const double size = *number_of(words[columns_->size]);
    const double about = half_a_digit(words[column]);
    const double least = size / ((time + about) * columns_->unit) / kGigabyte * (1 - kSlack);
    const double most = time > about ? size / ((time - about) * columns_->unit) / kGigabyte * (1 + kSlack) : HUGE_VAL;
    if (bandwidth + half_a_digit(said) < least || bandwidth - half_a_digit(said) > most) {
      fail(number_,
           fmt::format("{} bytes in {} {} are {:.4g} GB/s, and the row says {}", words[columns_->size], words[column],
                       unit, size / (time * columns_->unit) / kGigabyte, said),
           "time and algbw of one measurement");
    }
    return time * columns_->unit;
  }

  const std::string& file_;
  int number_ = 0;
  std::string test_;             ///< of the table that comes next
  std::set<std::string> ranks_;  ///< likewise
  std::optional<Columns> columns_;
  std::vector<Diagnostic> faults_;
  NcclLog log_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// One row for the rows of one size.
NcclLog::Row together(const std::vector<const NcclLog::Row*>& rows) {
  NcclLog::Row row = *rows.front();
  std::vector<double> out_of_place, in_place;
  for (const NcclLog::Row* one : rows) {
    out_of_place.push_back(one->seconds);
    if (one->in_place_seconds) in_place.push_back(*one->in_place_seconds);
  }
  const double before = row.seconds;
  row.seconds = median(std::move(out_of_place));
  row.algorithm_bandwidth *= before / row.seconds;
  row.bus_bandwidth *= before / row.seconds;
  if (!in_place.empty()) row.in_place_seconds = median(std::move(in_place));
  return row;
}

}  // namespace

NcclLog read_nccl_log(const std::string& file, const std::string& text) { return NcclLogReader(file).read(text); }

NcclTimes times_of(const NcclLog& log, const std::string& file, const std::string& test, std::size_t ranks) {
  std::vector<const NcclLog::Table*> named, unnamed;
  std::set<std::string> others;
  for (const NcclLog::Table& table : log.tables) {
    if (table.test.empty()) {
      unnamed.push_back(&table);
    } else if (test.empty() || table.test == test) {
      named.push_back(&table);
    } else {
      others.insert(table.test);
    }
  }
  std::vector<const NcclLog::Table*> tables = named.empty() ? unnamed : named;
  if (tables.empty()) {
    throw InputError({file, 0, fmt::format("is of {}", fmt::join(others, " and ")),
                      fmt::format("a log of {}, or another --op", test)});
  }
  const bool several = named.empty() && log.tables.size() > 1;
  if (several) {
    throw InputError({file, unnamed.front()->line,
                      fmt::format("has {} tables, and does not say of which collective this one is", log.tables.size()),
                      test.empty() ? std::string("a file with that table alone")
                                   : fmt::format("a line '# Collective test starting: {}' above it", test)});
  }
  std::set<std::size_t> counts;
  for (const NcclLog::Table* table : tables) {
    if (table->ranks) counts.insert(*table->ranks);
  }
  std::erase_if(tables, [&](const NcclLog::Table* table) { return table->ranks && *table->ranks != ranks; });
  if (tables.empty()) {
    throw InputError({file, 0, fmt::format("is of {} ranks, and {} are timed", fmt::join(counts, " and of "), ranks),
                      fmt::format("--ranks {}, or --hosts", *counts.begin())});
  }
  NcclTimes times;
  std::vector<std::vector<const NcclLog::Row*>> sizes;
  for (const NcclLog::Table* table : tables) {
    for (const NcclLog::Row& row : table->rows) {
      const auto known = std::ranges::find_if(sizes, [&](const auto& rows) { return rows.front()->size == row.size; });
      if (known == sizes.end())
        sizes.push_back({&row});
      else
        known->push_back(&row);
    }
  }
  for (const auto& rows : sizes) {
    times.rows.push_back(together(rows));
    if (rows.size() == 1) continue;
    const auto [least, most] = std::ranges::minmax(rows, {}, &NcclLog::Row::seconds);
    times.warnings.push_back({file, rows[1]->line,
                              fmt::format("{:.0f} bytes were measured {} times, first in line {}", rows.front()->size,
                                          rows.size(), rows.front()->line),
                              fmt::format("the median of {:.5g} to {:.5g} us is compared",
                                          least->seconds / kMicrosecond, most->seconds / kMicrosecond)});
  }
  return times;
}

}  // namespace dadsim::study
