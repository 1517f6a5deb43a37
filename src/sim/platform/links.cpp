#include <algorithm>

#include "sim/devices/fact_cells.hpp"
#include "sim/platform.hpp"
#include "sim/platform/link_classes.csv.hpp"
#include "sim/platform/links.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::sim {
namespace {

spec::LinkSpec read_link(const FactTable::Row& row, const FactTable& classes) {
  const FactTable::Row& kind = row.row_of("class", classes);
  spec::LinkSpec link;
  link.name = row.text("name");
  link.bandwidth = row.number("bandwidth [Mbit/s]") * 1e6 / 8;
  link.latency = row.number("latency [s]");
  link.transport = kind.one_of<spec::Transport>(
      "transport",
      {{"tcp", spec::Transport::tcp}, {"rdma", spec::Transport::rdma}, {"nvlink", spec::Transport::nvlink}});
  link.efficiency = kind.number("efficiency");
  link.queue_bytes = row.number_or("queue [byte]", link.queue_bytes);
  link.source = row.text("source");
  link.costs = kind.one_of<spec::MessageCosts>("costs", {{"network", spec::MessageCosts::network},
                                                         {"pcie", spec::MessageCosts::pcie},
                                                         {"xgmi", spec::MessageCosts::xgmi},
                                                         {"efa", spec::MessageCosts::efa}});
  link.library = library_in(kind);
  if (!row.optional_text("generation").empty()) link.generation = generation_in(row);
  return link;
}

}  // namespace

const std::vector<spec::LinkSpec>& link_catalog() {
  static const std::vector<spec::LinkSpec> catalog = [] {
    const FactTable classes(tables::kLinkClasses,
                            {"name", "transport", "efficiency", "costs", "library", "date", "source"});
    const FactTable links(tables::kLinks, {"name", "class", "bandwidth [Mbit/s]", "latency [s]", "queue [byte]",
                                           "generation", "date", "source"});
    std::vector<spec::LinkSpec> all;
    for (const FactTable::Row& row : links.rows()) all.push_back(read_link(row, classes));
    return all;
  }();
  return catalog;
}

const spec::LinkSpec* find_link(const std::string& name) {
  const auto entry = std::ranges::find(link_catalog(), name, &spec::LinkSpec::name);
  return entry == link_catalog().end() ? nullptr : &*entry;
}

}  // namespace dadsim::sim
