#include "study/measured/collective_times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

using report::Operation;

/// Returns a name without the affixes of benchmarks, in lower case: "osu_iallreduce" gives "iallreduce".
std::string plain(std::string_view name) {
  name.remove_prefix(std::min(name.find_last_of("/#") + 1, name.size()));
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view head : {"osu", "device"}) {
    if (letters.starts_with(head)) letters.erase(0, head.size());
  }
  for (const std::string_view tail : {"mpi", "perf", "onstream", "device", "latency"}) {
    if (letters.ends_with(tail)) letters.resize(letters.size() - tail.size());
  }
  return letters;
}

constexpr std::array<std::pair<std::string_view, Operation>, 12> kOtherNames{{
    {"reduction", Operation::all_reduce},  // NVSHMEM, also the next line
    {"fcollect", Operation::all_gather},
    {"bcast", Operation::broadcast},
    {"sendrecv", Operation::neighbour_exchange},
    {"allgatherv", Operation::all_gather},  // blocks have equal sizes in OSU's test
    {"gatherv", Operation::gather},
    {"scatterv", Operation::scatter},
    {"iallreduce", Operation::all_reduce},
    {"iallgather", Operation::all_gather},
    {"ialltoall", Operation::all_to_all},
    {"ibcast", Operation::broadcast},
    {"ireduce", Operation::reduce},
}};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Combines the rows of one size.
CollectiveLog::LoggedRow together(const std::vector<CollectiveLog::LoggedRow>& rows) {
  CollectiveLog::LoggedRow row = rows.front();
  std::vector<double> out_of_place, in_place;
  for (const CollectiveLog::LoggedRow& one : rows) {
    out_of_place.push_back(one.seconds);
    if (one.in_place_seconds) in_place.push_back(*one.in_place_seconds);
  }
  row.seconds = median(std::move(out_of_place));
  if (!in_place.empty()) row.in_place_seconds = median(std::move(in_place));
  return row;
}

/// Checks the requested collective against a table without a name: the ratio of its bandwidths must fit.
void check_bus_share(const CollectiveLog::LoggedTable& table, const std::string& file, const std::string& test,
                     std::size_t ranks) {
  constexpr double kRounding = 0.02;
  const auto taken = test.empty() ? Operation::all_reduce : operation_of_test(test);
  if (!table.bus_share || !taken) return;
  const std::size_t count = table.ranks.value_or(ranks);
  const auto fits = [&](Operation operation) {
    return std::abs(report::bus_factor(operation, count) - *table.bus_share) <= kRounding * *table.bus_share;
  };
  if (fits(*taken)) return;
  std::vector<std::string> others;
  for (const auto& [operation, name] : names_of(Operation{})) {
    if (operation != Operation::send && fits(operation)) others.emplace_back(name);
  }
  throw InputError(
      {file, table.line,
       fmt::format("has bus bandwidths of {:.3g} × algbw, but {} of {} ranks needs {:.3g} × algbw", *table.bus_share,
                   to_string(*taken), count, report::bus_factor(*taken, count)),
       others.empty() ? std::string("give the number of measured ranks")
                      : fmt::format("name {} (--test of diagnose, --op of collective), or give the number of measured "
                                    "ranks",
                                    fmt::join(others, " or "))});
}

}  // namespace

std::optional<Operation> operation_of_test(std::string_view name) {
  if (name == kLatencyTest) return Operation::send;
  const std::string word = plain(name);
  for (const auto& [operation, own] : names_of(Operation{})) {
    if (plain(own) == word) return operation;
  }
  const auto other = std::ranges::find(kOtherNames, word, [](const auto& one) { return one.first; });
  if (other == kOtherNames.end()) return std::nullopt;
  return other->second;
}

std::string test_of(Operation operation) {
  if (operation == Operation::all_to_all) return "alltoall_perf";
  if (operation == Operation::neighbour_exchange || operation == Operation::send) return std::string(kSendTest);
  std::string name = to_string(operation);
  std::ranges::replace(name, '-', '_');
  return name + "_perf";
}

std::vector<std::string> names_of_tests() {
  std::vector<std::string> names;
  for (const auto& [operation, own] : names_of(Operation{})) {
    if (operation != Operation::send) names.push_back(test_of(operation));
  }
  return names;
}

collectives::CollectiveRequest request_of(Operation operation, double bytes, std::size_t ranks,
                                          std::span<const std::pair<int, int>> pairs) {
  collectives::CollectiveRequest request;
  request.kind = kind_of(operation);
  const bool of_block = has_blocks(operation) && operation != Operation::reduce_scatter;
  request.bytes = {of_block ? bytes / static_cast<double>(ranks) : bytes};
  if (request.kind != step::CollectiveKind::neighbour_exchange) return request;
  request.neighbours.resize(ranks);
  for (const auto& [from, to] : pairs) request.neighbours[static_cast<std::size_t>(from)].push_back(to);
  const std::size_t senders = operation == Operation::send ? 1 : ranks;
  for (std::size_t rank = 0; rank < senders && pairs.empty() && ranks > 1; ++rank)
    request.neighbours[rank].push_back(static_cast<collectives::Rank>((rank + 1) % ranks));
  return request;
}

CollectiveTimes times_of(const CollectiveLog& log, const std::string& file, const std::string& test,
                         std::size_t ranks) {
  std::vector<const CollectiveLog::LoggedTable*> named, unnamed;
  std::set<std::string> others, names;
  for (const CollectiveLog::LoggedTable& table : log.tables) {
    if (table.test.empty()) {
      unnamed.push_back(&table);
    } else if (test.empty() || table.test == test || (table.test == kLatencyTest && test == kSendTest)) {
      named.push_back(&table);
      names.insert(table.test);
    } else {
      others.insert(table.test);
    }
  }
  if (test.empty() && names.size() > 1)
    throw InputError({file, 0, fmt::format("measures {}", fmt::join(names, " and ")), "choose one with --test"});
  std::vector<const CollectiveLog::LoggedTable*> tables = named.empty() ? unnamed : named;
  if (tables.empty()) {
    throw InputError({file, 0, fmt::format("measures {}", fmt::join(others, " and ")),
                      fmt::format("use a log of {}, or name another collective", test)});
  }
  const bool several = named.empty() && log.tables.size() > 1;
  if (several) {
    throw InputError({file, unnamed.front()->line,
                      fmt::format("has {} tables, but this table does not name its collective", log.tables.size()),
                      test.empty() ? std::string("use a file with only this table")
                                   : fmt::format("add a line '# Collective test starting: {}' above the table", test)});
  }
  if (named.empty()) check_bus_share(*tables.front(), file, test, ranks);
  std::set<std::size_t> counts;
  for (const CollectiveLog::LoggedTable* table : tables) {
    if (table->ranks) counts.insert(*table->ranks);
  }
  std::erase_if(tables,
                [&](const CollectiveLog::LoggedTable* table) { return table->ranks && *table->ranks != ranks; });
  if (tables.empty()) {
    throw InputError({file, 0, fmt::format("measures {} ranks, but {} are timed", fmt::join(counts, " and "), ranks),
                      fmt::format("use --ranks {}, or --hosts", *counts.begin())});
  }
  CollectiveTimes times{.test = names.empty() ? test : *names.begin(), .rows = {}, .warnings = log.warnings};
  const auto operation = operation_of_test(times.test);
  const bool of_blocks = operation && has_blocks(*operation) && *operation != report::Operation::reduce_scatter;
  std::vector<std::vector<CollectiveLog::LoggedRow>> sizes;
  for (const CollectiveLog::LoggedTable* table : tables) {
    for (CollectiveLog::LoggedRow row : table->rows) {
      if (of_blocks && table->of_messages) row.size *= static_cast<double>(ranks);
      const auto known = std::ranges::find_if(sizes, [&](const auto& rows) { return rows.front().size == row.size; });
      if (known == sizes.end())
        sizes.push_back({row});
      else
        known->push_back(row);
    }
  }
  for (const auto& rows : sizes) {
    times.rows.push_back(together(rows));
    if (rows.size() == 1) continue;
    const auto [least, most] = std::ranges::minmax(rows, {}, &CollectiveLog::LoggedRow::seconds);
    times.warnings.push_back({file, rows[1].line,
                              fmt::format("{:.0f} bytes were measured {} times, first in line {}", rows.front().size,
                                          rows.size(), rows.front().line),
                              fmt::format("the median of times from {:.5g} to {:.5g} µs is compared",
                                          least.seconds * 1e6, most.seconds * 1e6)});
  }
  return times;
}

}  // namespace dadsim::study
