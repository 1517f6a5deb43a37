#include "cli/collective_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/arguments.hpp"
#include "collectives/collective.hpp"
#include "scenario/elements/host_list.hpp"
#include "support/diagnostics.hpp"
#include "support/split.hpp"

namespace dadsim::cli {
namespace {

constexpr const char* kFormOfSizes = "e.g. 1KB:1GB, 1KB:1GB:4 or 1MB,4MB (powers of 1024, up to 1024TB)";

/// Returns "4KiB" for "4k" or "4KB", and "8B" for "8": benchmarks count sizes in powers of 1024.
std::string in_powers_of_1024(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string unit(text.substr(end));
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (unit.ends_with('B')) unit.pop_back();
  if (unit.size() == 2 && unit.back() == 'I') unit.pop_back();
  const bool known = unit.empty() || (unit.size() == 1 && std::string_view("KMGTP").find(unit) != std::string::npos);
  return known ? fmt::format("{}{}{}B", text.substr(0, end), unit, unit.empty() ? "" : "i") : std::string(text);
}

constexpr const char* kDefaultSizes = "1KB:1GB:4";
/// Reads pairs of ranks like "0>1,2>3".
std::vector<std::pair<int, int>> parse_pairs(const std::string& text) {
  std::vector<std::pair<int, int>> pairs;
  for (const std::string_view word : split_at(text, ',')) {
    const std::vector<std::string_view> ends = split_at(word, '>');
    if (ends.size() != 2) throw UsageError(fmt::format("--pairs: '{}' is no pair of ranks; write e.g. 0>1,2>3", word));
    const scenario::Kind rank = scenario::integer(0, scenario::kMaxWorkers - 1);
    const std::pair<int, int> pair{read_option<int>("pairs", ends[0], rank), read_option<int>("pairs", ends[1], rank)};
    if (pair.first == pair.second) {
      throw UsageError(fmt::format("--pairs: '{}' goes from a rank to itself; use two different ranks", word));
    }
    if (std::ranges::find(pairs, pair) != pairs.end()) {
      throw UsageError(fmt::format("--pairs names '{}' twice; use each direction of a pair once", word));
    }
    pairs.push_back(pair);
  }
  return pairs;
}

void check_algorithm(report::Operation operation, const std::string& algorithm) {
  std::vector<std::string> names{"auto", "best"};
  for (const collectives::CollectiveAlgorithm& one : collectives::collective_registry()) {
    if (one.kind == kind_of(operation)) names.push_back(one.name);
  }
  if (std::ranges::find(names, algorithm) != names.end()) return;
  throw UsageError(fmt::format("--algorithm: there is no '{}' for {}; {}", algorithm, to_string(operation),
                               suggestion(algorithm, names)));
}

bool may_have_root(report::Operation operation) {
  return operation == report::Operation::broadcast || operation == report::Operation::reduce ||
         operation == report::Operation::gather || operation == report::Operation::scatter ||
         operation == report::Operation::all_reduce;
}

bool along_pairs(report::Operation operation) {
  return operation == report::Operation::neighbour_exchange || operation == report::Operation::send;
}

/// Refuses combinations of options.
void check(const CollectiveOptions& options) {
  const char* operation = to_string(options.operation);
  check_algorithm(options.operation, options.algorithm);
  if (options.root && !may_have_root(options.operation)) {
    throw UsageError(fmt::format("--root has no effect with {}, which has no root; remove it", operation));
  }
  if (!options.pairs.empty() && !along_pairs(options.operation)) {
    throw UsageError(
        fmt::format("--pairs has no effect with {}; use --pairs only with neighbour-exchange and send", operation));
  }
  if (options.pairs.empty() && along_pairs(options.operation)) {
    throw UsageError(fmt::format("{} needs --pairs, e.g. --pairs '0>1,1>0'", operation));
  }
  if (options.ranks && !options.hosts.empty()) {
    throw UsageError("--ranks and --hosts both select hosts; remove one of them");
  }
  if (options.cold && !options.measured.empty()) {
    throw UsageError(
        "--cold cannot be combined with --measured: benchmarks measure warm connections; remove one of them");
  }
  if (options.per_rank && options.sizes_of_log) {
    throw UsageError(
        "--per-rank cannot be combined with sizes of --measured, which are over all ranks; remove --per-rank");
  }
  if (options.cold && (options.fidelity == spec::Fidelity::flow || options.fidelity == spec::Fidelity::closed_form)) {
    throw UsageError(fmt::format(
        "--cold cannot be combined with --fidelity {}, which has only warm connections; use --fidelity message",
        to_string(options.fidelity)));
  }
}

}  // namespace

double parse_byte_size(const char* option, std::string_view text, const char* form) {
  const scenario::Range range{.minimum = 0, .maximum = kLargestSize, .open_minimum = true};
  return read_option<double>(option, in_powers_of_1024(text),
                             scenario::quantity(scenario::QuantityForm{scenario::Unit::bytes, range, form}));
}

std::vector<double> parse_byte_sizes(const std::string& text) {
  std::vector<double> sizes;
  const auto add = [&](double size) {
    if (sizes.size() == kMostSizes) throw UsageError(fmt::format("--sizes names more than {} sizes", kMostSizes));
    sizes.push_back(size);
  };
  for (const std::string_view part : split_at(text, ',')) {
    const std::vector<std::string_view> ends = split_at(part, ':');
    if (ends.size() > 3) throw UsageError(fmt::format("--sizes: '{}' has too many colons; {}", part, kFormOfSizes));
    const double first = parse_byte_size("sizes", ends[0], kFormOfSizes);
    const double last = ends.size() > 1 ? parse_byte_size("sizes", ends[1], kFormOfSizes) : first;
    const scenario::Kind above_one = scenario::real({.minimum = 1, .open_minimum = true});
    const double factor = ends.size() == 3 ? read_option<double>("sizes", ends[2], above_one) : 2;
    if (last < first)
      throw UsageError(fmt::format("--sizes: '{}' ends before it begins; put the smaller size first", part));
    for (double size = first; size <= last; size *= factor) add(size);
  }
  return sizes;
}

CollectiveOptions collective_options_of(const po::variables_map& values) {
  CollectiveOptions options;
  operands_of(values, 0, "dadsim collective --platform FILE --op OP");
  const auto given = [&](const char* option) -> std::optional<std::string> {
    const std::string text = text_of(values, option);
    return text.empty() ? std::nullopt : std::optional(text);
  };
  const auto required = [&](const char* option) {
    const auto text = given(option);
    if (!text) throw UsageError(fmt::format("--{} is missing; see dadsim collective --help", option));
    return *text;
  };
  options.platform = required("platform");
  required("op");
  options.operation = *value_of<report::Operation>(values, "op");
  options.algorithm = given("algorithm").value_or("auto");
  options.sizes = parse_byte_sizes(given("sizes").value_or(kDefaultSizes));
  options.ranks = value_of<std::int64_t>(values, "ranks", scenario::integer(2, scenario::kMaxWorkers));
  options.root = value_of<std::int64_t>(values, "root", scenario::integer(0, scenario::kMaxWorkers - 1));
  if (const auto text = given("hosts")) {
    const scenario::HostList list = scenario::expand_hosts(*text, scenario::kMaxWorkers);
    if (!list.what.empty()) throw UsageError(fmt::format("--hosts {}; {}", list.what, list.remedy));
    if (list.hosts.empty()) throw UsageError("--hosts names no host; name hosts, e.g. gpu-[0-15]");
    options.hosts = *text;
  }
  if (const auto text = given("pairs")) options.pairs = parse_pairs(*text);
  if (options.pairs.empty() && options.operation == report::Operation::send) options.pairs = {{0, 1}};
  options.per_rank = values.contains("per-rank");
  options.cold = values.contains("cold");
  options.rendezvous = values.contains("rendezvous");
  options.fidelity = value_of<spec::Fidelity>(values, "fidelity").value_or(options.fidelity);
  options.transport = value_of<spec::Transport>(values, "transport");
  options.measured = given("measured").value_or("");
  options.sizes_of_log = !options.measured.empty() && !given("sizes");
  check(options);
  return options;
}

}  // namespace dadsim::cli
