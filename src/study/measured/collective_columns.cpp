#include "study/measured/collective_columns.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace dadsim::study {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;

/// A benchmark, by the first column of its tables and by that of its times.
struct Benchmark {
  std::string_view first, time;
  double unit;
  bool several;      ///< several columns of that name are several ways of measuring
  bool whole_rows;   ///< see CollectiveColumns
  bool of_messages;  ///< likewise
};
constexpr std::array kBenchmarks{
    Benchmark{"size", "time", kMicro, true, true, false},             // nccl-tests
    Benchmark{"bytes", "time", kMilli, true, true, false},            // those of NCCL 1 and 2.0
    Benchmark{"size(B)", "latency(us)", kMicro, false, true, false},  // NVSHMEM
    Benchmark{"Size", "Latency(us)", kMicro, false, false, true},     // OSU
    Benchmark{"Size", "Latency", kMicro, false, false, true},         // OSU, between two ranks: "Latency (us)"
    Benchmark{"Size", "Comm.(us)", kMicro, false, false, true},       // OSU, collectives that do not block
    Benchmark{"Count", "Time,", kMicro, false, false, true},          // UCC
    Benchmark{"bytes", "t_avg[usec]", kMicro, false, false, true},    // Intel MPI Benchmarks, oneCCL
};

/// The names of a heading from the first column on, behind whatever label. Words that are half of a name are left out:
/// "Avg Latency(us)", "Latency (us)".
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
    if (names[i] == "#wrong") columns.wrong.push_back(i);
  }
  // Any text may have a size and a time.
  if (known->several && (columns.elements == 0 || columns.time.size() != columns.algorithm_bandwidth.size()))
    return std::nullopt;
  return columns;
}

std::string bandwidths_in(const std::vector<std::string>& words) {
  const auto says = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  if (says("Size") && says("Bandwidth") && says("(MB/s)")) return "Bandwidth (MB/s)";
  return says("#bytes") && says("average[MB/sec]") ? "BW average[MB/sec]" : "";
}

}  // namespace dadsim::study
