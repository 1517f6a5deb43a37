#include "report/collective/collective_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/text/paragraph.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

/// At least two decimals, and at least three significant digits.
std::string three_digits(double value) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(value))), 2, 12);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string microseconds(double seconds) {
  if (!std::isfinite(seconds)) return "–";
  const double value = seconds * 1e6;
  return fmt::format("{:.{}f}", value, value >= 1e4 ? 0 : value >= 100 ? 1 : 2);
}

std::string gigabytes(double bytes_per_second) { return three_digits(bytes_per_second / 1e9); }

/// The rate of a link, in the unit in which it is sold.
std::string rate(double bytes_per_second) {
  const double bits = 8 * bytes_per_second;
  if (bits >= 1e12) return fmt::format("{:.4g} GB/s", bytes_per_second / 1e9);
  return bits >= 1e9 ? fmt::format("{:.4g} Gbit/s", bits / 1e9) : fmt::format("{:.4g} Mbit/s", bits / 1e6);
}

/// Between what nine measurements of ten are expected.
std::string band_in_words(const CollectiveReport& report, const CollectiveRow& row) {
  const double seconds = seconds_of(report, row);
  if (row.category.empty() || !std::isfinite(seconds)) return "–";
  return fmt::format("{} … {}", microseconds(row.band.low * seconds), microseconds(row.band.high * seconds));
}

/// What the bands rest on, one line a category.
std::string bases_in_words(const CollectiveReport& report) {
  std::vector<std::string> categories;
  std::string text;
  for (const CollectiveRow& row : report.rows) {
    if (row.category.empty() || std::ranges::find(categories, row.category) != categories.end()) continue;
    categories.push_back(row.category);
    const estimate::ErrorCategory& category = estimate::error_category(row.category);
    text += paragraph(fmt::format(
        "Nine measurements of ten are expected at {:.2f} to {:.2f} of the time ({}): {}, {} row{} of {} table{}.",
        category.spread.low, category.spread.high, category.name, category.meaning, category.spread.rows,
        category.spread.rows == 1 ? "" : "s", category.spread.tables, category.spread.tables == 1 ? "" : "s"));
  }
  return text;
}

std::string whole(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
}

std::string ranks_in_words(const CollectiveReport& report) {
  const std::vector<std::string>& hosts = report.hosts;
  const std::string ranks = hosts.size() == 1 ? "1 rank" : fmt::format("{} ranks", hosts.size());
  if (hosts.size() <= 6) return fmt::format("{}: {}", ranks, fmt::join(hosts, ", "));
  return fmt::format("{}: {}, {}, … {}", ranks, hosts[0], hosts[1], hosts.back());
}

std::string pairs_in_words(const CollectiveReport& report) {
  constexpr std::size_t kListed = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(kListed, report.pairs.size()); ++i) {
    text += fmt::format("{}{} → {}", i == 0 ? "" : ", ", report.pairs[i].first, report.pairs[i].second);
  }
  if (report.pairs.size() > kListed) text += fmt::format(", … ({} in all)", report.pairs.size());
  return text;
}

std::string what_size_is(const CollectiveReport& report) {
  switch (report.operation) {
    case Operation::all_reduce:
    case Operation::broadcast:
    case Operation::reduce:
      return "the vector, which every rank has";
    case Operation::all_gather:
    case Operation::gather:
      return "what all ranks hand over together";
    case Operation::reduce_scatter:
    case Operation::scatter:
      return "the vector, of which every rank gets its share";
    case Operation::all_to_all:
      return "what a rank hands over to all, itself included";
    case Operation::neighbour_exchange:
    case Operation::send:
      return "one message";
  }
  return {};
}

std::string heading(const CollectiveReport& report) {
  std::string text = fmt::format("{} on {}", to_string(report.operation), report.platform_file);
  if (!report.platform_description.empty()) text += fmt::format(" ({})", report.platform_description);
  text += fmt::format(", {}", ranks_in_words(report));
  if (report.root) text += fmt::format("; root {}", *report.root);
  if (!report.pairs.empty()) text += fmt::format("; {}", pairs_in_words(report));
  text += '.';
  return paragraph(text) +
         paragraph(fmt::format("Size: {}. GB/s are 10⁹ byte/s; bus bandwidth is {:.4g} × algorithm bandwidth, as in "
                               "nccl-tests. Times are those on {} connections.",
                               what_size_is(report), bus_factor(report.operation, report.hosts.size()),
                               report.cold ? "new" : "warm"));
}

/// Columns, the first two lines a heading; those of text are left-aligned.
std::string grid(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& left_aligned_columns) {
  std::vector<std::size_t> widths(left_aligned_columns.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < widths.size(); ++i) columns.push_back({widths[i], i});
  columns[0].width += 2;
  std::string text;
  for (const std::vector<std::size_t>& part : parts_of_table(columns, 3)) {
    if (!text.empty()) text += '\n';
    for (const auto& row : rows) {
      std::string line;
      for (const std::size_t i : part) {
        line += i == 0 ? "  " : "   ";
        line += left_aligned_columns[i] ? left_aligned(row[i], widths[i]) : right_aligned(row[i], widths[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
  }
  return text;
}

std::string table_of_rows(const CollectiveReport& report) {
  const bool other = std::ranges::any_of(report.rows, [](const auto& row) { return row.cold_seconds.has_value(); });
  std::vector<std::string> names{"size"};
  std::vector<std::string> units{"(B)"};
  std::vector<bool> left_aligned_columns{false};
  const auto column = [&](const char* name, const char* unit, bool left = false) {
    names.emplace_back(name);
    units.emplace_back(unit);
    left_aligned_columns.push_back(left);
  };
  if (report.per_rank) column("per rank", "(B)");
  column("count", "(float32)");
  column("algorithm", "", true);
  column("fidelity", "", true);
  column("time", "(µs)");
  column("algbw", "(GB/s)");
  column("busbw", "(GB/s)");
  const bool banded = std::ranges::any_of(report.rows, [](const auto& row) { return !row.category.empty(); });
  if (banded) column("9 of 10", "(µs)");
  if (other) column(report.cold ? "warm" : "cold", "(µs)");
  const bool measured = !report.measured_file.empty();
  if (measured) {
    column("measured", "(µs)");
    column("error", "(%)");
  }
  std::vector<std::vector<std::string>> rows{names, units};
  for (const CollectiveRow& row : report.rows) {
    std::vector<std::string>& cells = rows.emplace_back();
    cells.push_back(whole(row.size_bytes));
    if (report.per_rank) cells.push_back(whole(row.block_bytes));
    cells.push_back(whole(count_of(row)));
    cells.push_back(row.protocol.empty() ? row.algorithm : row.algorithm + " " + row.protocol);
    cells.emplace_back(to_string(row.fidelity));
    cells.push_back(microseconds(seconds_of(report, row)));
    cells.push_back(gigabytes(algorithm_bandwidth(report, row)));
    cells.push_back(gigabytes(bus_bandwidth(report, row)));
    if (banded) cells.push_back(band_in_words(report, row));
    if (other) {
      cells.push_back(!row.cold_seconds ? "–" : microseconds(report.cold ? row.warm_seconds : *row.cold_seconds));
    }
    if (!measured) continue;
    cells.push_back(row.measured ? microseconds(row.measured->seconds) : "–");
    cells.push_back(row.measured ? fmt::format("{:+.1f}", 100 * (seconds_of(report, row) / row.measured->seconds - 1))
                                 : "–");
  }
  return grid(rows, left_aligned_columns);
}

std::string agreement_in_words(const CollectiveReport& report) {
  const Agreement agreement = agreement_of(report);
  return paragraph(fmt::format(
      "Measured: {}, out of place. Predicted ÷ measured over {} size{}: {:.3g} (geometric mean), from {:.3g} "
      "to {:.3g}; mean error {:.1f} %.",
      report.measured_file, agreement.rows, agreement.rows == 1 ? "" : "s", agreement.mean, agreement.least,
      agreement.greatest, 100 * agreement.mean_error));
}

std::string links_in_words(const step::NetworkUse& network) {
  std::string text;
  std::vector<std::string> transports;
  for (const step::NetworkUse::LinkClass& link : network.links) {
    text += paragraph(fmt::format("Links: {:.0f} {}{}, transport {}, efficiency {:.4g}.", link.links,
                                  link.name.empty() ? "of " : link.name + " of ", rate(link.bandwidth), link.transport,
                                  link.efficiency));
  }
  for (const step::NetworkUse::LinkClass& link : network.links) {
    if (std::ranges::find(transports, link.transport) != transports.end()) continue;
    transports.push_back(link.transport);
    text += paragraph(fmt::format("Links as {}: {}.", link.transport, link.model));
  }
  return text;
}

}  // namespace

std::string to_table(const CollectiveReport& report) {
  std::string text = heading(report) + '\n' + table_of_rows(report) + '\n';
  text += paragraph(fmt::format("Average bus bandwidth: {} GB/s.", gigabytes(average_bus_bandwidth(report))));
  text += bases_in_words(report);
  if (!report.measured_file.empty()) text += agreement_in_words(report);
  const bool by_flow =
      std::ranges::any_of(report.rows, [](const auto& r) { return r.fidelity != spec::Fidelity::message; });
  if (report.choice == "auto") {
    text += paragraph(
        "Algorithms as auto takes them: the least time by formula, as NCCL's tuner has it (src/graph/tuning.cc) for "
        "GPUs "
        "on shared nodes, over the algorithms of MPICH and Open MPI elsewhere. best times them on this platform.");
  }
  for (const CollectiveRow& row : report.rows) {
    if (row.compared) {
      text += paragraph(
          fmt::format("Best for {} B: {} ({}).", whole(row.size_bytes), row.algorithm, in_words(*row.compared)));
    }
  }
  for (const CollectiveRow& row : report.rows) {
    if (row.quicker) text += paragraph(fmt::format("{} B: {}.", whole(row.size_bytes), in_words(*row.quicker)));
  }
  if (by_flow) text += paragraph("By flow connections are always warm: there is no slow start.");
  if (const std::vector<Statement>& notes = report.network.fidelity_notes; !notes.empty())
    text += paragraph(fmt::format("Fidelity: {}.", fmt::join(in_words(notes), "; ")));
  if (report.rendezvous) {
    text += paragraph("A message leaves when its receiver has posted it and the news has come (rendezvous).");
  }
  return text + links_in_words(report.network) + paragraph("Network model: " + report.network_model);
}

}  // namespace dadsim::report
