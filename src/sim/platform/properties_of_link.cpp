#include "sim/platform/properties_of_link.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "sim/platform.hpp"
#include "sim/platform/build/host_zone.hpp"
#include "sim/platform/link_changes.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::sim {

LinkProperties properties_of(const simgrid::s4u::Link* link, spec::Transport fallback) {
  if (const LinkProperties* noted = noted_properties(link)) return *noted;
  LinkProperties use;
  use.transport = fallback;
  if (const char* text = property_of(link, "transport")) {
    bool known = false;
    for (const spec::Transport transport :
         {spec::Transport::plain, spec::Transport::tcp, spec::Transport::rdma, spec::Transport::nvlink}) {
      if (std::string_view(text) == to_string(transport)) {
        use.transport = transport;
        known = true;
      }
    }
    if (!known) {
      throw std::runtime_error(
          fmt::format("link '{}' has the transport '{}'; use plain, tcp, rdma or nvlink", link->get_cname(), text));
    }
  }
  if (const char* text = property_of(link, "measured")) {
    use.is_goodput = std::string_view(text) == "goodput";
    if (!use.is_goodput && std::string_view(text) != "wire") {
      throw std::runtime_error(
          fmt::format("link '{}' has measured '{}'; use wire or goodput", link->get_cname(), text));
    }
  }
  if (use.transport == spec::Transport::tcp && !use.is_goodput) use.efficiency = kTcpEfficiency;
  const auto number = [&](const char* key, double& value, double most) {
    const char* text = property_of(link, key);
    if (text == nullptr) return;
    value = parse_whole<double>(text).value_or(0);
    if (!(value > 0) || !(value <= most)) {
      throw std::runtime_error(fmt::format("link '{}' has the {} '{}'; use a number above 0, at most {}",
                                           link->get_cname(), key, text, most));
    }
  };
  number("efficiency", use.efficiency, 1);
  number("queue", use.queue_bytes, 1e15);
  number("per-connection", use.per_connection, 1e15);
  if (const char* text = property_of(link, "class")) use.link_class = text;
  if (const spec::LinkSpec* known = find_link(use.link_class); known != nullptr) use.costs = known->costs;
  const auto is = [&](const char* key, const char* yes, const char* no) {
    const char* text = property_of(link, key);
    if (text == nullptr || std::string_view(text) == no) return false;
    if (std::string_view(text) == yes) return true;
    throw std::runtime_error(
        fmt::format("link '{}' has the {} '{}'; use {} or {}", link->get_cname(), key, text, yes, no));
  };
  use.in_cluster = is("in-cluster", "true", "false");
  use.adds_up = is("adds-up", "true", "false");
  use.rccl = is("library", "rccl", "nccl");
  return use;
}

std::string fault_of_properties(const simgrid::s4u::Engine& engine) {
  try {
    for (const auto* link : engine.get_all_links()) static_cast<void>(properties_of(link, spec::Transport::plain));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

}  // namespace dadsim::sim
