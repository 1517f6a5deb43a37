#include "study/measured/collective_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <string_view>

#include "study/measured/collective_times.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;

/// A benchmark program, recognised by the name of the first column and of the time column.
struct Benchmark {
  std::string_view first, time;
  double unit;
  bool several;      ///< true: repeated time columns are different ways of measuring
  bool whole_rows;   ///< see CollectiveColumns
  bool of_messages;  ///< see CollectiveColumns
};
constexpr std::array kBenchmarks{
    Benchmark{"size", "time", kMicro, true, true, false},             // nccl-tests
    Benchmark{"bytes", "time", kMilli, true, true, false},            // NCCL 1 and 2.0
    Benchmark{"size(B)", "latency(us)", kMicro, false, true, false},  // NVSHMEM
    Benchmark{"Size", "Latency(us)", kMicro, false, false, true},     // OSU
    Benchmark{"Size", "Latency", kMicro, false, false, true},         // OSU, between two ranks: "Latency (us)"
    Benchmark{"Size", "Comm.(us)", kMicro, false, false, true},       // OSU, non-blocking collectives
    Benchmark{"Count", "Time,", kMicro, false, false, true},          // UCC
    Benchmark{"bytes", "t_avg[usec]", kMicro, false, false, true},    // Intel MPI Benchmarks, oneCCL
};

/// Returns the column names of a heading from the first column on, after any label. Skips words that are half of a
/// name, as in "Avg Latency(us)" and "Latency (us)".
std::vector<std::string> names_in(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 4> kHalves{"Avg", "Min", "Max", "Pure"};
  std::vector<std::string> names;
  for (std::string word : words) {
    while (word.starts_with('#') && word != "#wrong") word.erase(0, 1);
    if (names.empty() && std::ranges::find(kBenchmarks, word, &Benchmark::first) == kBenchmarks.end()) continue;
    if (word.empty() || word.starts_with('(') || std::ranges::find(kHalves, word) != kHalves.end()) continue;
    names.push_back(std::move(word));
  }
  return names;
}

constexpr const char* kRowForm = "keep the row as the benchmark writes it";
constexpr double kMicrosecond = 1e-6;
constexpr double kGigabyte = 1e9;
constexpr std::size_t kMostFaults = 20;
/// Largest accepted deviation of a bandwidth from size ÷ time, beyond the rounding of both.
constexpr double kSlack = 0.02;
constexpr double kToldApart = 1;  // GB/s; from this bandwidth on, its two decimals are exact to 1 %

/// Test programs of nccl-tests (src/*.cu); builds with MPI may be called …_mpi.
constexpr std::array<std::string_view, 11> kTests{
    "all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "broadcast_perf", "reduce_perf",   "alltoall_perf",
    "alltoallv_perf",  "gather_perf",     "scatter_perf",        "sendrecv_perf",  "hypercube_perf"};

/// Returns the test named by a word, which may contain a path; else an empty text.
std::string test_in(std::string_view word) {
  word.remove_prefix(std::min(word.find_last_of("/#") + 1, word.size()));
  if (word.ends_with("_mpi")) word.remove_suffix(4);
  return std::ranges::find(kTests, word) == kTests.end() ? std::string() : std::string(word);
}

std::optional<double> number_of(std::string_view word) {
  const std::optional<double> value = parse_whole<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Returns half a unit of the last digit of a number: "12.50" 0.005, "1e+07" 5e6.
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

/// Returns the words of a line without colour codes (ECMA-48: ESC [ … letter) and without mpirun's prefix glued to the
/// text ("[1,0]<stdout>:text").
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

/// Returns whether a word can be a cell of a table: a number, or a result in place of one.
bool is_cell(std::string_view word) { return number_of(word) || word == "N/A" || word == "Pass" || word == "Fail"; }

class CollectiveLogReader {
 public:
  explicit CollectiveLogReader(const std::string& file) : file_(file) {}

  std::optional<CollectiveLog> read(const std::string& text) {
    for (const std::string_view line : lines_of(text)) {
      ++number_;
      const std::vector<std::string> words = words_of_line(line);
      if (const auto columns = columns_of(words)) {
        begin_table(*columns);
      } else if (const auto begin = row_in(words)) {
        begin_row({words.begin() + static_cast<std::ptrdiff_t>(*begin), words.end()});
      } else if (!continue_row(words)) {
        read_remark(words);
      }
    }
    end_row();
    if (!columns_ && bandwidths_.empty() && faults_.empty()) return std::nullopt;
    std::erase_if(log_.tables, [](const CollectiveLog::LoggedTable& table) { return table.rows.empty(); });
    if (log_.tables.empty()) std::ranges::move(log_.warnings, std::back_inserter(faults_));
    if (log_.tables.empty() && faults_.empty()) fail_without_table();
    if (!faults_.empty()) throw InputError(std::move(faults_));
    return std::move(log_);
  }

 private:
  void fail(int line, std::string what, std::string remedy) {
    if (faults_.size() < kMostFaults) faults_.push_back({file_, line, std::move(what), std::move(remedy)});
  }

  void fail_without_table() {
    if (columns_)
      fail(0, "has a table without rows", fmt::format("use the output of {}", kCollectiveBenchmarks));
    else
      fail(0, fmt::format("has '{}' with many messages in flight, but no times", bandwidths_),
           "use the latency test (osu_latency, ib_write_lat), or the test of a collective");
  }

  void begin_table(const CollectiveColumns& columns) {
    end_row();
    columns_ = columns;
    // Several processes may have written the heading before the first row.
    if (log_.tables.empty() || !log_.tables.back().rows.empty()) log_.tables.emplace_back();
    CollectiveLog::LoggedTable& table = log_.tables.back();
    table.line = number_;
    table.of_messages = columns.of_messages;
    if (!test_.empty()) table.test = std::exchange(test_, {});
    if (!ranks_.empty()) table.ranks = ranks_.size();
    ranks_.clear();
  }

  /// Returns the position at which a row begins, after any label. The first columns have their contents there; only
  /// numbers follow, unless a column has words.
  std::optional<std::size_t> row_in(const std::vector<std::string>& words) const {
    if (!columns_) return std::nullopt;
    const std::size_t last = columns_->type > 0 ? std::max(columns_->elements, columns_->type) : columns_->time.front();
    for (std::size_t i = 0; i + last < words.size(); ++i) {
      if (words[i].starts_with('#')) return std::nullopt;
      if (!is_whole(words[i + columns_->size]) || !is_whole(words[i + columns_->elements])) continue;
      if (columns_->type > 0 ? begins_with_letter(words[i + columns_->type])
                             : std::all_of(words.begin() + static_cast<std::ptrdiff_t>(i), words.end(), is_cell))
        return i;
    }
    // An incomplete row.
    if (columns_->type > 0 && cells_.empty() && !words.empty() && std::ranges::all_of(words, is_whole)) return 0;
    return std::nullopt;
  }

  void read_remark(const std::vector<std::string>& words) {
    const auto at = [&](std::string_view word) { return std::ranges::find(words, word); };
    const auto says = [&](std::string_view word) { return at(word) != words.end(); };
    for (std::size_t i = 0; i < words.size(); ++i) {
      // A command that builds a test does not run the test.
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
    // "# Collective test starting: hypercube_perf": names the collective of a table, which may be unknown
    if (const auto after = at("starting:"); after != words.end() && after + 1 != words.end() && says("test")) {
      const std::string known = test_in(*(after + 1));
      test_ = known.empty() ? *(after + 1) : known;
    }
    // "# OSU MPI-CUDA Allreduce Latency Test v7.4", "Collective:  Allreduce", "# Benchmarking Allreduce",
    // "#reduction_on_stream"
    const bool osu = says("OSU") && says("Test");
    if (osu || says("Collective:") || says("Benchmarking") ||
        (words.size() == 1 && words.front().starts_with('#') && words.front().size() > 1)) {
      const auto named =
          std::ranges::find_if(words, [](const auto& word) { return operation_of_test(word).has_value(); });
      if (named != words.end())
        test_ = test_of(*operation_of_test(*named));
      else if (osu && says("Latency"))
        test_ = kLatencyTest;
    }
    if (says("in-place") && says("out-of-place")) in_place_first_ = at("in-place") < at("out-of-place");
    if (bandwidths_.empty()) bandwidths_ = bandwidths_in(words);
    // "# Out of bounds values : 3 FAILED"
    if (says("bounds") && says("FAILED")) {
      fail(number_, "reports results out of bounds", "use a run with correct results");
    }
  }

  // ---- rows ----

  void begin_row(std::vector<std::string> words) {
    end_row();
    row_line_ = number_;
    if (debug_in(words) == words.end() && (words.size() == columns_->count || !columns_->whole_rows))
      return read_row(words);
    take_cells(std::move(words));
  }

  /// Returns whether a line is the rest of a cut row, possibly after a label.
  bool continue_row(const std::vector<std::string>& words) {
    if (cells_.size() < std::max<std::size_t>(1, columns_ ? columns_->time.front() : 1)) return false;
    const auto begin = std::adjacent_find(words.begin(), debug_in(words),
                                          [](const auto& a, const auto& b) { return is_cell(a) && is_cell(b); });
    if (begin == debug_in(words)) return false;
    take_cells({begin, words.end()});
    return true;
  }

  /// Returns the position at which a log line of NCCL or RCCL begins within another line.
  static std::vector<std::string>::const_iterator debug_in(const std::vector<std::string>& words) {
    return std::ranges::find_if(words, [](const auto& word) { return word == "NCCL" || word == "RCCL"; });
  }

  /// Takes words as the next cells of a row as long as they fit. A line of another log may begin right after a cell, as
  /// in "-1node-a:1000:1020"; a count of wrong values is then cut before it.
  void take_cells(std::vector<std::string> words) {
    for (std::string& word : words) {
      const std::size_t column = cells_.size();
      const bool wrong = std::ranges::find(columns_->wrong, column) != columns_->wrong.end();
      if (column == columns_->count || (column >= columns_->time.front() && !wrong && !is_cell(word))) break;
      if (wrong && !is_cell(word)) word.resize(std::min(word.find_first_not_of("0123456789"), word.size()));
      cells_.push_back(std::move(word));
    }
    if (cells_.size() == columns_->count) end_row();
  }

  void end_row() {
    if (cells_.empty()) return;
    const std::vector<std::string> cells = std::exchange(cells_, {});
    // nccl-tests may not have measured the in-place time.
    if (cells.size() == columns_->count || (columns_->time.size() > 1 && cells.size() == columns_->time[1])) {
      const auto faults = static_cast<std::ptrdiff_t>(faults_.size());
      read_row(cells);
      log_.warnings.insert(log_.warnings.end(), faults_.begin() + faults, faults_.end());
      faults_.erase(faults_.begin() + faults, faults_.end());
    } else {
      log_.warnings.push_back({file_, row_line_,
                               fmt::format("has {} columns, and the heading has {}", cells.size(), columns_->count),
                               kRowForm});
    }
  }

  void read_row(const std::vector<std::string>& words) {
    CollectiveLog::LoggedRow row;
    row.line = row_line_;
    row.size = number_of(words[columns_->size]).value_or(0);
    if (row.size <= 0) return;
    const std::size_t faults = faults_.size();
    row.seconds = time_in(words, 0);
    if (columns_->time.size() > 1 && words.size() > columns_->time[1] && words[columns_->time[1]] != "N/A") {
      row.in_place_seconds = time_in(words, 1);
      if (in_place_first_) std::swap(row.seconds, *row.in_place_seconds);
    }
    for (const std::size_t column : columns_->wrong) {
      if (column >= words.size()) continue;
      if (const auto wrong = number_of(words[column]); wrong && *wrong > 0) {
        fail(row_line_, fmt::format("'{}' values are wrong", words[column]),
             "use a run with correct results (0 in #wrong)");
      }
    }
    if (faults_.size() > faults) return;
    log_.tables.back().rows.push_back(row);
    if (columns_->bus_bandwidth == 0 || columns_->bus_bandwidth >= words.size()) return;
    const std::optional<double> bus = number_of(words[columns_->bus_bandwidth]);
    const std::optional<double> own = number_of(words[columns_->algorithm_bandwidth.front()]);
    // Bandwidths of fewer than three digits cannot distinguish the factors of the collectives.
    if (bus && own && *own >= kToldApart) log_.tables.back().bus_share = *bus / *own;
  }

  double value_in(const std::vector<std::string>& words, std::size_t column) {
    const std::optional<double> value = number_of(words[column]);
    if (value && *value >= 0) return *value;
    fail(row_line_, fmt::format("'{}' in column {} is not a number", words[column], column + 1), kRowForm);
    return 0;
  }

  /// Returns the seconds of the first way of measuring (0) or the second (1).
  double time_in(const std::vector<std::string>& words, std::size_t which) {
    const std::size_t column = columns_->time[which];
    const std::size_t faults = faults_.size();
    const double time = value_in(words, column);
    if (faults_.size() > faults) return 0;
    const char* unit = columns_->unit == kMicrosecond ? "microseconds" : "milliseconds";
    if (!(time > 0)) {
      fail(row_line_, fmt::format("'{}' in column {} is not a time", words[column], column + 1),
           fmt::format("{} above 0", unit));
      return 0;
    }
    if (which >= columns_->algorithm_bandwidth.size()) return time * columns_->unit;
    const std::string& said = words[columns_->algorithm_bandwidth[which]];
    const double bandwidth = value_in(words, columns_->algorithm_bandwidth[which]);
    const double size = *number_of(words[columns_->size]);
    const double about = half_a_digit(words[column]);
    const double least = size / ((time + about) * columns_->unit) / kGigabyte * (1 - kSlack);
    const double most = time > about ? size / ((time - about) * columns_->unit) / kGigabyte * (1 + kSlack) : HUGE_VAL;
    if (bandwidth + half_a_digit(said) < least || bandwidth - half_a_digit(said) > most) {
      fail(row_line_,
           fmt::format("{} bytes in {} {} are {:.4g} GB/s, but the row has {}", words[columns_->size], words[column],
                       unit, size / (time * columns_->unit) / kGigabyte, said),
           "give time and algbw of one measurement");
    }
    return time * columns_->unit;
  }

  const std::string& file_;
  int number_ = 0;
  std::string test_;             ///< test of the next table
  std::set<std::string> ranks_;  ///< ranks of the next table
  std::string bandwidths_;       ///< bandwidth columns found where times were expected
  bool in_place_first_ = false;
  std::optional<CollectiveColumns> columns_;
  std::vector<std::string> cells_;  ///< cells of a cut row
  int row_line_ = 0;
  std::vector<Diagnostic> faults_;
  CollectiveLog log_;
};

}  // namespace

std::optional<CollectiveColumns> columns_of(const std::vector<std::string>& words) {
  const std::vector<std::string> names = names_in(words);
  const auto known = std::ranges::find_if(kBenchmarks, [&](const Benchmark& one) {
    return !names.empty() && one.first == names.front() && std::ranges::find(names, one.time) != names.end();
  });
  if (known == kBenchmarks.end()) return std::nullopt;
  CollectiveColumns columns;
  columns.count = names.size();
  columns.unit = known->unit;
  columns.whole_rows = known->whole_rows;
  columns.of_messages = known->of_messages;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "Size") columns.size = i;
    if (names[i] == "count" || names[i] == "N") columns.elements = i;
    if (names[i] == "type") columns.type = i;
    if (names[i] == known->time && (known->several || columns.time.empty())) columns.time.push_back(i);
    if (names[i].starts_with("algbw")) columns.algorithm_bandwidth.push_back(i);
    if (names[i].starts_with("busbw") && columns.bus_bandwidth == 0) columns.bus_bandwidth = i;
    if (names[i] == "#wrong") columns.wrong.push_back(i);
  }
  // Ordinary text may also contain a size and a time.
  if (known->several && (columns.elements == 0 || columns.time.size() != columns.algorithm_bandwidth.size()))
    return std::nullopt;
  return columns;
}

std::string bandwidths_in(const std::vector<std::string>& words) {
  const auto says = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  if (says("Size") && says("Bandwidth") && says("(MB/s)")) return "Bandwidth (MB/s)";
  return says("#bytes") && says("average[MB/sec]") ? "BW average[MB/sec]" : "";
}

std::optional<CollectiveLog> find_collective_log(const std::string& file, const std::string& text) {
  return CollectiveLogReader(file).read(text);
}

CollectiveLog read_collective_log(const std::string& file, const std::string& text) {
  std::optional<CollectiveLog> log = find_collective_log(file, text);
  if (!log)
    throw InputError(
        {file, 0, "has no table of measured collectives", fmt::format("use the output of {}", kCollectiveBenchmarks)});
  return *std::move(log);
}

}  // namespace dadsim::study
