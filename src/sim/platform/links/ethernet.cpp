#include <fmt/format.h>

#include "sim/platform/links/efficiency.hpp"
#include "sim/platform/links/families.hpp"

namespace dadsim::sim::links {

std::vector<spec::LinkSpec> ethernet() {
  // The latency is that of cable and switch; frames that are stored and forwarded and what software adds come with TCP.
  const auto port = [](const char* name, double gigabits, const char* standard) {
    spec::LinkSpec link;
    link.name = fmt::format("ethernet-{}", name);
    link.bandwidth = gigabits * 1e9 / 8;
    link.latency = gigabits < 10 ? 5e-6 : 1e-6;
    link.transport = spec::Transport::tcp;
    link.efficiency = efficiency::kTcp;
    link.queue_bytes = gigabits < 25 ? 3e5 : 1e6;
    link.source = fmt::format(
        "{}; efficiency from the headers at an MTU of 1500 bytes; latency (cable and switch) and queue are assumptions",
        standard);
    return link;
  };
  spec::LinkSpec wifi;
  wifi.name = "wifi-6";
  wifi.bandwidth = 1.201e9 / 8;
  wifi.latency = 2e-3;
  wifi.transport = spec::Transport::tcp;
  wifi.efficiency = efficiency::kWifi;
  wifi.source =
      "IEEE 802.11ax (2021), two streams in 80 MHz: 1.201 Gbit/s, unverified; latency and efficiency are "
      "assumptions";
  return {
      port("1g", 1, "IEEE 802.3ab (1999)"),
      port("2.5g", 2.5, "IEEE 802.3bz (2016)"),
      port("10g", 10, "IEEE 802.3ae (2002)"),
      port("25g", 25, "IEEE 802.3by (2016)"),
      port("40g", 40, "IEEE 802.3ba (2010)"),
      port("100g", 100, "IEEE 802.3ba (2010)"),
      port("200g", 200, "IEEE 802.3bs (2017)"),
      port("400g", 400, "IEEE 802.3bs (2017)"),
      wifi,
  };
}

}  // namespace dadsim::sim::links
