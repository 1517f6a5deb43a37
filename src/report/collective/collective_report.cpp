#include "report/collective/collective_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/text/text_blocks.hpp"

namespace dadsim::report {
namespace {

constexpr double kElementBytes = 4;  // bytes of a float32

/// Returns a number with at least two decimals, and at least three significant digits.
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

/// Returns the rate of a link with its unit: GB/s from 10¹² bit/s on, else Gbit/s or Mbit/s.
std::string rate(double bytes_per_second) {
  const double bits = 8 * bytes_per_second;
  if (bits >= 1e12) return fmt::format("{:.4g} GB/s", bytes_per_second / 1e9);
  return bits >= 1e9 ? fmt::format("{:.4g} Gbit/s", bits / 1e9) : fmt::format("{:.4g} Mbit/s", bits / 1e6);
}

/// Returns the interval in which nine measurements of ten are expected, µs; "–" if it is unknown.
std::string band_in_words(const CollectiveReport& report, const CollectiveRow& row) {
  const double seconds = seconds_of(report, row);
  if (row.category.empty() || !std::isfinite(seconds)) return "–";
  return fmt::format("{} … {}", microseconds(row.band.low * seconds), microseconds(row.band.high * seconds));
}

/// Returns the basis of the bands as text, a line per error category.
std::string bases_in_words(const CollectiveReport& report) {
  std::vector<std::string> categories;
  std::string text;
  for (const CollectiveRow& row : report.rows) {
    if (row.category.empty() || std::ranges::find(categories, row.category) != categories.end()) continue;
    categories.push_back(row.category);
    const estimate::ErrorCategory& category = estimate::error_category(row.category);
    text += paragraph(fmt::format(
        "Nine of ten measurements are expected at {:.2f} to {:.2f} times the printed time ({}: {}; {} row{} of {} "
        "table{}).",
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
      return "all ranks' blocks together";
    case Operation::reduce_scatter:
    case Operation::scatter:
      return "the vector; every rank gets a share of it";
    case Operation::all_to_all:
      return "all that a rank sends to all ranks, itself included";
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

DocumentTable sizes_of(const CollectiveReport& report) {
  constexpr double kMicro = 1e6;
  constexpr double kGiga = 1e9;
  DocumentTable sizes{.style = {.left = {}, .indent = 2, .gap = 3, .rule = false}};
  for (const CollectiveRow& row : report.rows) {
    const double seconds = seconds_of(report, row);
    const std::optional<double> other = row.cold_seconds && report.cold ? row.warm_seconds : row.cold_seconds;
    const bool banded = !row.category.empty();
    TableRow line = sizes.add_row();
    const auto add = [&](const char* name, const char* title, double value, std::string words) {
      line.add(name, title, value, Unit::plain, std::move(words));
    };
    line.csv("operation", to_string(report.operation))
        .csv("ranks", report.hosts.size())
        .csv("connections", report.cold ? "cold" : "warm");
    add("size_bytes", "size\n(B)", row.size_bytes, whole(row.size_bytes));
    add("block_bytes", report.per_rank ? "per rank\n(B)" : "", row.block_bytes, whole(row.block_bytes));
    add("count_float32", "count\n(float32)", count_of(row), whole(count_of(row)));
    line.add("algorithm", "algorithm", row.algorithm, Unit::text,
             row.protocol.empty() ? row.algorithm : row.algorithm + " " + row.protocol);
    line.add("fidelity", "fidelity", to_string(row.fidelity), Unit::text).add("messages", row.messages);
    add("time_us", "time\n(µs)", seconds * kMicro, microseconds(seconds));
    add("algbw_gb_per_s", "algbw\n(GB/s)", algorithm_bandwidth(report, row) / kGiga,
        gigabytes(algorithm_bandwidth(report, row)));
    add("busbw_gb_per_s", "busbw\n(GB/s)", bus_bandwidth(report, row) / kGiga, gigabytes(bus_bandwidth(report, row)));
    line.say("9 of 10\n(µs)", band_in_words(report, row)).add("warm_us", row.warm_seconds * kMicro);
    line.add("cold_us", report.cold ? "warm\n(µs)" : "cold\n(µs)",
             row.cold_seconds ? DocumentValue(*row.cold_seconds * kMicro) : DocumentValue(), Unit::plain,
             other ? microseconds(*other) : "–");
    line.add("low_us", banded ? DocumentValue(row.band.low * seconds * kMicro) : Omitted(), "high_us",
             banded ? DocumentValue(row.band.high * seconds * kMicro) : Omitted(), "category",
             banded ? DocumentValue(row.category) : Omitted())
        .json("protocol", row.protocol.empty() ? Omitted() : DocumentValue(row.protocol))
        .json("compared", or_omitted(row.compared))
        .json("quicker", or_omitted(row.quicker));
    if (report.measured_file.empty()) continue;
    const auto& measured = row.measured;
    const DocumentValue in_place =
        measured && measured->in_place_seconds ? DocumentValue(*measured->in_place_seconds * kMicro) : DocumentValue();
    const double ratio = measured ? seconds / measured->seconds : 0;
    line.add("measured_us", "measured\n(µs)", measured ? DocumentValue(measured->seconds * kMicro) : Omitted(),
             Unit::plain, measured ? microseconds(measured->seconds) : "–")
        .add("measured_in_place_us", measured ? in_place : Omitted())
        .add("predicted_over_measured", "error\n(%)", measured ? DocumentValue(ratio) : Omitted(), Unit::plain,
             measured ? fmt::format("{:+.1f}", 100 * (ratio - 1)) : "–");
  }
  return sizes;
}

std::string agreement_in_words(const CollectiveReport& report, const Agreement& agreement) {
  return paragraph(fmt::format(
      "Measured: {}, out of place. Predicted ÷ measured over {} size{}: {:.3g} (geometric mean), from {:.3g} "
      "to {:.3g}; mean error {:.1f} %.",
      report.measured_file, agreement.rows, agreement.rows == 1 ? "" : "s", agreement.mean, agreement.least,
      agreement.greatest, 100 * agreement.mean_error));
}

/// Returns sentences on the choice of algorithms and on quicker ones, on what flow leaves out, and on rendezvous.
std::string notes_in_words(const CollectiveReport& report) {
  std::string text;
  const bool by_xla = std::ranges::any_of(report.rows, [](const auto& row) { return row.algorithm == "torus"; });
  if (report.choice == "auto" && by_xla) {
    text += paragraph("auto between TPUs: algorithms over all links of the torus, as in XLA.");
  } else if (report.choice == "auto") {
    text += paragraph(
        "auto: for GPUs on shared nodes, the algorithm with the least time by the formulas of NCCL's tuner "
        "(src/graph/tuning.cc); elsewhere, the algorithms of MPICH and Open MPI. best: the quickest of several "
        "algorithms timed on this platform.");
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
  if (std::ranges::any_of(report.rows, [](const auto& row) { return row.fidelity != spec::Fidelity::message; }))
    text += paragraph("Flow assumes warm connections, without slow start.");
  if (const std::vector<Statement>& notes = report.network.fidelity_notes; !notes.empty())
    text += paragraph(fmt::format("Fidelity: {}.", fmt::join(in_words(notes), "; ")));
  if (report.rendezvous)
    text += paragraph("A message leaves when its receiver has posted a receive and the sender knows (rendezvous).");
  return text;
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

step::CollectiveKind kind_of(Operation operation) {
  if (operation == Operation::send) return step::CollectiveKind::neighbour_exchange;
  return spec::parse<step::CollectiveKind>(to_string(operation)).value();
}

bool has_blocks(Operation operation) {
  using enum Operation;
  return operation == all_gather || operation == reduce_scatter || operation == gather || operation == scatter ||
         operation == all_to_all;
}

double bus_factor(Operation operation, std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (operation == Operation::all_reduce) return 2 * (n - 1) / n;
  return has_blocks(operation) ? (n - 1) / n : 1;
}

double seconds_of(const CollectiveReport& report, const CollectiveRow& row) {
  return report.cold && row.cold_seconds ? *row.cold_seconds : row.warm_seconds;
}

double algorithm_bandwidth(const CollectiveReport& report, const CollectiveRow& row) {
  return row.size_bytes / seconds_of(report, row);
}

double bus_bandwidth(const CollectiveReport& report, const CollectiveRow& row) {
  return algorithm_bandwidth(report, row) * bus_factor(report.operation, report.hosts.size());
}

double average_bus_bandwidth(const CollectiveReport& report) {
  double sum = 0;
  double rows = 0;
  for (const CollectiveRow& row : report.rows) {
    const double bandwidth = bus_bandwidth(report, row);
    if (!std::isfinite(bandwidth)) continue;
    sum += bandwidth;
    ++rows;
  }
  return rows > 0 ? sum / rows : std::numeric_limits<double>::quiet_NaN();
}

Agreement agreement_of(const CollectiveReport& report) {
  Agreement agreement;
  double logarithms = 0;
  for (const CollectiveRow& row : report.rows) {
    if (!row.measured) continue;
    const double ratio = seconds_of(report, row) / row.measured->seconds;
    agreement.least = agreement.rows == 0 ? ratio : std::min(agreement.least, ratio);
    agreement.greatest = agreement.rows == 0 ? ratio : std::max(agreement.greatest, ratio);
    logarithms += std::log(ratio);
    agreement.mean_error += std::abs(ratio - 1);
    ++agreement.rows;
  }
  if (agreement.rows == 0) return agreement;
  agreement.mean = std::exp(logarithms / static_cast<double>(agreement.rows));
  agreement.mean_error /= static_cast<double>(agreement.rows);
  return agreement;
}

double count_of(const CollectiveRow& row) { return std::floor(row.block_bytes / kElementBytes); }

Document document_of(const CollectiveReport& report) {
  Document document{report, {}};
  document.print(heading(report) + '\n');
  document.add("platform.file", report.platform_file, "platform.description", report.platform_description, "operation",
               to_string(report.operation), "ranks", report.hosts.size(), "hosts", report.hosts, "root", report.root);
  using Pair = std::pair<int, int>;
  using Link = step::NetworkUse::LinkClass;
  document.add("pairs", list_of(report.pairs, "from", &Pair::first, "to", &Pair::second), "connections",
               report.cold ? "cold" : "warm", "rendezvous", report.rendezvous, "bus_factor",
               bus_factor(report.operation, report.hosts.size()));
  document.parts.push_back({.name = "sizes", .shown = Shown::always, .what = sizes_of(report), .text = "\n"});
  document.add("average_busbw_gb_per_s", average_bus_bandwidth(report) / 1e9);
  document.print(paragraph(fmt::format("Average bus bandwidth: {} GB/s.", gigabytes(average_bus_bandwidth(report)))) +
                 bases_in_words(report));
  if (!report.measured_file.empty()) {
    const Agreement agreement = agreement_of(report);
    document.add("measured.file", report.measured_file, "measured.sizes", agreement.rows,
                 "measured.predicted_over_measured", agreement.mean, "measured.least", agreement.least,
                 "measured.greatest", agreement.greatest, "measured.mean_error", agreement.mean_error);
    document.print(agreement_in_words(report, agreement));
  }
  document.print(notes_in_words(report));
  document.add(
      "network.fidelity_notes", report.network.fidelity_notes, "network.links",
      list_of(report.network.links, "class", &Link::name, "directions", &Link::links, "bytes_per_second",
              &Link::bandwidth, "transport", &Link::transport, "efficiency", &Link::efficiency, "model", &Link::model));
  document.print(links_in_words(report.network) + paragraph("Network model: " + report.network_model));
  return document;
}

}  // namespace dadsim::report
