#include <algorithm>
#include <stdexcept>
#include <vector>

#include "sim/platform.hpp"
#include "sim/platform/regions.csv.hpp"
#include "support/fact_table.hpp"
#include "support/split.hpp"

namespace dadsim::sim {
namespace {

/// A measurement between two regions; zero if there was none.
struct MeasuredPair {
  double megabits = 0;      ///< throughput of payload, Mbit/s
  double milliseconds = 0;  ///< round-trip time, ms
};

struct Regions {
  std::vector<std::string> names;                   ///< names of the regions, sorted
  std::vector<std::vector<MeasuredPair>> measured;  ///< measurements, [from][to]

  Regions() {
    // Reads the header of the file, which names the regions, one per column.
    for (const std::string_view line : lines_of(tables::kRegions.text)) {
      if (line.starts_with('#')) continue;
      names = csv_cells(line);
      break;
    }
    const FactTable table(tables::kRegions, names);
    names.erase(names.begin());
    names.resize(names.size() - 2);  // removes the columns of date and source
    for (const FactTable::Row& row : table.rows()) {
      if (measured.size() == names.size() || row.text("from") != names[measured.size()])
        row.wrong("'" + row.text("from") + "' here", "put rows in the order of the columns");
      measured.emplace_back();
      for (const std::string& name : names) measured.back().push_back(cell(row, name));
    }
    if (!std::ranges::is_sorted(names)) throw std::logic_error("regions.csv: regions are not sorted");
  }

  static MeasuredPair cell(const FactTable::Row& row, const std::string& to) {
    if (row.optional_text(to).empty()) return {};
    const std::vector<std::string> parts = words_of(row.text(to));
    if (parts.size() != 2) row.wrong("'" + row.text(to) + "' to " + to, "Mbit/s and ms");
    return {row.number_of(parts[0], to), row.number_of(parts[1], to)};
  }
};

const Regions& regions() {
  static const Regions kRegions;
  return kRegions;
}

std::optional<std::size_t> index_of(const std::string& name) {
  const auto& names = regions().names;
  const auto region = std::ranges::lower_bound(names, name);
  if (region == names.end() || *region != name) return std::nullopt;
  return static_cast<std::size_t>(region - names.begin());
}

}  // namespace

const std::vector<std::string>& region_names() { return regions().names; }

std::optional<spec::WanSpec::Pair> region_pair(const std::string& from, const std::string& to) {
  const std::optional<std::size_t> row = index_of(from);
  const std::optional<std::size_t> column = index_of(to);
  if (!row || !column) return std::nullopt;
  const MeasuredPair& one = regions().measured[*row][*column];
  if (!(one.megabits > 0)) return std::nullopt;
  spec::WanSpec::Pair pair;
  pair.from = from;
  pair.to = to;
  pair.bandwidth = one.megabits * 1e6 / 8;
  pair.is_goodput = true;
  pair.round_trip = one.milliseconds / 1e3;
  pair.transport = spec::Transport::tcp;
  return pair;
}

}  // namespace dadsim::sim
