#include <algorithm>

#include "sim/platform.hpp"
#include "sim/platform/link_classes.csv.hpp"
#include "sim/platform/links.csv.hpp"
#include "spec/fact_cells.hpp"

namespace dadsim::sim {
namespace {

spec::LinkSpec read_link(const FactTable::Row& row, const FactTable& classes) {
  const FactTable::Row& kind = row.row_of("class", classes);
  spec::LinkSpec link;
  link.name = row.text("name");
  link.bandwidth = row.number("bandwidth [Mbit/s]") * 1e6 / 8;
  link.latency = row.number("latency [s]");
  link.transport = spec::named_in<spec::Transport>(kind, "transport");
  link.efficiency = kind.number("efficiency");
  link.queue_bytes = row.number_or("queue [byte]", link.queue_bytes);
  link.source = row.text("source");
  link.costs = spec::named_in<spec::MessageCosts>(kind, "costs");
  link.library = spec::named_in<spec::CollectiveLibrary>(kind, "library");
  if (!row.optional_text("generation").empty())
    link.generation = spec::named_in<spec::GpuGeneration>(row, "generation");
  link.is_access = !row.optional_text("access").empty() && row.yes("access");
  return link;
}

}  // namespace

const std::vector<spec::LinkSpec>& link_catalog() {
  static const std::vector<spec::LinkSpec> catalog = [] {
    const FactTable classes(tables::kLinkClasses,
                            {"name", "transport", "efficiency", "costs", "library", "date", "source"});
    const FactTable links(tables::kLinks, {"name", "class", "bandwidth [Mbit/s]", "latency [s]", "queue [byte]",
                                           "generation", "access", "date", "source"});
    return links.each([&](const FactTable::Row& row) { return read_link(row, classes); });
  }();
  return catalog;
}

const spec::LinkSpec* find_link(const std::string& name) {
  const auto entry = std::ranges::find(link_catalog(), name, &spec::LinkSpec::name);
  return entry == link_catalog().end() ? nullptr : &*entry;
}

}  // namespace dadsim::sim
