#pragma once

#include <array>
#include <string>
#include <vector>

#include "scenario/generators.hpp"

namespace dadsim::test {

/// A random valid platform, as content of <platform> or <cluster-platform>, with links and regions of fake_catalog().
struct SomePlatform {
  std::string inside;
  std::vector<std::string> hosts;  ///< at least two hosts
};

inline std::string some_catalog_link() {
  return one_of("nvlink-4", "pcie-3", "ib-edr", "ib-ndr", "ethernet-1g", "ethernet-10g");
}

inline std::string some_transport() { return one_of("plain", "tcp", "rdma", "nvlink"); }

inline std::string some_bandwidth() {
  return coin() ? fmt::format("{}Bps", share() * 1e12) : one_of("10Mbps", "2.5Gbps", "1GBps");
}

inline std::string some_seconds() { return coin() ? fmt::format("{}s", share()) : one_of("0", "8ms", "30us"); }

inline std::string some_cluster_link() { return coin() ? some_catalog_link() : some_bandwidth(); }

inline std::string some_fabric(std::int64_t nodes) {
  const std::string link = fmt::format(" link=\"{}\"{}", some_cluster_link(), maybe("link-latency", some_seconds()));
  switch (between(0, 4)) {
    case 0:
      return "";
    case 1:
      return fmt::format("<one-switch{}/>", maybe("sharp", true));
    case 2:
      return fmt::format("<fat-tree{} nodes-per-switch=\"{}\"{}{}/>", link, between(1, 16),
                         maybe("oversubscription", 1 + share()), maybe("sharp", true));
    case 3:
      return fmt::format("<dragonfly{} groups=\"{}\" routers=\"2\" nodes=\"1\"/>", link, nodes / 2);
    default:
      return fmt::format("<torus{} dimensions=\"2x{}x1\"/>", link, nodes / 2);
  }
}

inline std::string with_prefix(const std::string& name, const std::string& host) {
  return name.empty() ? host : name + "." + host;
}

inline std::string name_attribute(const std::string& name) {
  return name.empty() ? "" : fmt::format(" name=\"{}\"", name);
}

inline void add_gpu_cluster(SomePlatform& platform, const std::string& name) {
  const std::int64_t nodes = 2 * between(1, 3);
  const std::int64_t gpus = between(1, 3);
  std::string inside =
      gpus > 1 ? fmt::format(" inside=\"{}\"{}", some_cluster_link(), maybe("inside-latency", some_seconds()))
               : maybe("inside", "nvlink-4");
  if (gpus > 1) {
    inside += coin() ? maybe("bridge", some_cluster_link()) : std::string(" mesh=\"true\"");
    inside += maybe("rails", between(1, gpus));
  }
  const bool own = coin();
  const std::string nic = own ? some_bandwidth() : some_catalog_link();
  inside += maybe("nic-latency", some_seconds());
  const std::string transport = own && coin() ? some_transport() : "";
  if (!transport.empty()) inside += fmt::format(" transport=\"{}\"", transport);
  if (own ? transport.empty() || transport == "tcp" : nic.starts_with("ethernet")) {
    inside +=
        maybe("sockets", between(1, 64)) + maybe("socket-threads", between(1, 64)) + maybe("mtu", between(576, 9000));
    inside +=
        maybe("flow-limit", "5Gbps") + (coin() ? maybe("queue", "2MB") : maybe("congestion", one_of("cubic", "bbr")));
  }
  const bool slotted = coin();
  const bool shared = slotted && gpus > 1 && coin();
  if (slotted) inside += fmt::format(" slot=\"{}\"", some_cluster_link());
  if (shared) inside += fmt::format(" slot-gpus=\"{}\"", gpus);
  inside += maybe("library", coin() ? "nccl" : "rccl");
  const std::int64_t others = coin() ? 2 : 0;
  const std::int64_t each = between(1, 3);
  std::string more;
  if (others > 0) {
    more = fmt::format("<more-nodes nodes=\"{}\" gpus=\"{}\" rails=\"{}\"", others, each, between(1, each));
    if (each > 1 && (gpus == 1 || coin())) {
      more += fmt::format(" inside=\"{}\"{}", some_cluster_link(), maybe("inside-latency", some_seconds()));
    }
    if (coin()) more += fmt::format(" nic=\"{}\"{}", some_bandwidth(), maybe("nic-latency", some_seconds()));
    if (each > 1) more += coin() ? maybe("bridge", some_cluster_link()) : maybe("mesh", one_of("true", "false"));
    if (coin())
      more += fmt::format(" slot=\"{}\" slot-gpus=\"{}\"", some_cluster_link(), each);
    else if (shared)
      more += " slot-gpus=\"1\"";
    more += "/>";
  }
  platform.inside += fmt::format("<gpu-cluster{} nodes=\"{}\" gpus=\"{}\"{} nic=\"{}\">{}{}</gpu-cluster>",
                                 name_attribute(name), nodes, gpus, inside, nic, more, some_fabric(nodes + others));
  for (std::int64_t i = 0; i < nodes * gpus + others * each; ++i) {
    platform.hosts.push_back(with_prefix(name, fmt::format("gpu-{}", i)));
  }
}

/// Returns both directions of <sites> or <hub> in one of the possible notations.
inline std::string some_line() {
  const bool own_up = coin();
  const bool own_down = coin();
  const std::string up = own_up ? some_bandwidth() : coin() ? "cable-up" : some_catalog_link();
  const std::string down = own_down ? some_bandwidth() : coin() ? "cable-down" : some_catalog_link();
  std::string text = fmt::format(" up=\"{}\" down=\"{}\"", up, down);
  const std::string each = fmt::format(" up-latency=\"{}\" down-latency=\"{}\"", some_seconds(), some_seconds());
  const std::string shared = fmt::format(" latency=\"{}\"", some_seconds());
  if (own_up || own_down || coin()) {
    text += coin() ? each : shared + (coin() ? maybe("up-latency", some_seconds()) : maybe("down-latency", "3us"));
  }
  text += maybe("efficiency", share());
  const std::string transport = one_of("", "", "plain", "tcp", "rdma", "nvlink");
  if (!transport.empty()) text += fmt::format(" transport=\"{}\"", transport);
  if (transport == "tcp" || (transport.empty() && (own_up || own_down))) {
    text +=
        coin() ? maybe("queue", fmt::format("{}B", 1 + share() * 1e7)) : maybe("congestion", one_of("cubic", "bbr"));
    const bool losses = text.find("queue") != std::string::npos || text.find("congestion") != std::string::npos;
    if (!losses && text.find("efficiency") == std::string::npos && coin())
      text += " measured=\"goodput\"" + maybe("per-connection", some_bandwidth());
  }
  return text;
}

inline void add_federation(SomePlatform& platform, const std::string& name) {
  platform.inside += fmt::format("<federation{}>", name_attribute(name));
  for (const char* sites : {"hospital", "phone", "é&#38;b"}) {
    const std::string decoded = sites[0] == 'h' || sites[0] == 'p' ? sites : "é&b";
    const bool numbered = coin();
    const std::int64_t count = numbered ? between(1, 4) : 1;
    platform.inside += fmt::format("<sites name=\"{}\"{}{}/>", sites,
                                   numbered ? fmt::format(" count=\"{}\"", count) : "", some_line());
    for (std::int64_t i = 1; i <= count; ++i) {
      platform.hosts.push_back(with_prefix(name, numbered ? fmt::format("{}-{}", decoded, i) : decoded));
    }
    if (coin()) break;
  }
  if (coin()) platform.inside += fmt::format("<hub{}/>", some_line());
  platform.inside += "</federation>";
  platform.hosts.push_back(with_prefix(name, "hub"));
}

inline std::string some_pair(const std::string& from, const std::string& to, bool one_way) {
  return fmt::format("<pair from=\"{}\" to=\"{}\" bandwidth=\"{}\" round-trip=\"{}\"{}{}/>", from, to, some_bandwidth(),
                     some_seconds(), one_way ? " one-way=\"true\"" : maybe("one-way", false),
                     coin()   ? maybe("transport", some_transport())
                     : coin() ? maybe("per-connection", some_bandwidth())
                     : coin() ? maybe("queue", fmt::format("{}B", 1 + share() * 1e7))
                              : maybe("congestion", one_of("cubic", "bbr")));
}

/// Returns both directions between two ends, as one element or two.
inline std::string some_pairs(const std::string& a, const std::string& b) {
  return coin() ? some_pair(a, b, false) : some_pair(b, a, true) + some_pair(a, b, true);
}

inline void add_wan(SomePlatform& platform, const std::string& name) {
  platform.inside += fmt::format("<wan{}", name_attribute(name));
  if (coin()) {
    platform.inside +=
        fmt::format(" host=\"{}\"{}", one_of("ethernet-1g", "ethernet-10g"), maybe("host-latency", some_seconds()));
  } else {
    platform.inside += fmt::format(" host-bandwidth=\"{}\" host-latency=\"{}\"", some_bandwidth(), some_seconds());
  }
  platform.inside += maybe("queue", fmt::format("{}B", 1 + share() * 1e7)) + ">";
  std::vector<std::string> regions = {"aws:us-east-1", "aws:eu-west-1"};
  if (coin()) regions.push_back("gcp:asia-east1-a");
  if (coin()) regions.push_back("home");
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const std::int64_t hosts = between(1, 3);
    platform.inside += fmt::format("<region name=\"{}\" hosts=\"{}\"/>", regions[i], hosts);
    for (std::int64_t k = 1; k <= hosts; ++k) {
      platform.hosts.push_back(with_prefix(name, fmt::format("{}-{}", regions[i], k)));
    }
    for (std::size_t j = 0; j < i; ++j) {
      const bool in_table = regions[i] != "home" && (i != 2 || regions[j] != "aws:us-east-1");
      if (!in_table) {
        platform.inside += some_pairs(regions[i], regions[j]);
      } else if (coin()) {
        platform.inside += some_pair(regions[i], regions[j], coin());
      }
    }
  }
  platform.inside += "</wan>";
}

inline void add_composition(SomePlatform& platform) {
  const std::array<std::string, 3> names = {"a", "b.c", "d"};
  const std::int64_t count = between(2, 3);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (coin()) {
      add_gpu_cluster(platform, names[i]);
    } else {
      add_federation(platform, names[i]);
    }
    for (std::size_t j = 0; j < i; ++j) platform.inside += some_pairs(names[i], names[j]);
  }
}

inline std::string some_background(const std::vector<std::string>& hosts) {
  std::string text;
  if (coin()) {
    text += fmt::format("<change link=\"{}\"{}{}/>", some_text(), maybe("bandwidth-factor", 0.1 + share()),
                        maybe("latency-factor", 3 * share()));
  }
  const auto plain = [](const std::string& host) { return host.find('&') == std::string::npos; };
  if (coin() && plain(hosts.front())) {
    text += fmt::format("<background from=\"{}\" to=\"{}\" bytes=\"{}B\"{}/>", hosts.back(), hosts.front(),
                        1 + share() * 1e9, maybe("every", fmt::format("{}s", share())));
  }
  return text;
}

/// Returns variations over time of an inline platform; SimGrid files have profiles of their own.
inline std::string some_variation(const std::vector<std::string>& hosts) {
  std::string text;
  if (coin()) {
    const double first = share();
    text += fmt::format("<profile link=\"{}\"{} times=\"0s {}s\" factors=\"{} {}\"{}/>", some_text(),
                        maybe("of", one_of("bandwidth", "latency")), first, share(), share(),
                        maybe("period", fmt::format("{}s", first + share())));
  }
  return text + some_background(hosts);
}

inline SomePlatform some_declared_platform() {
  SomePlatform platform;
  const std::string name = one_of("", "", "left");
  switch (between(0, 3)) {
    case 0:
      add_gpu_cluster(platform, name);
      break;
    case 1:
      add_federation(platform, name);
      break;
    case 2:
      add_wan(platform, name);
      break;
    default:
      add_composition(platform);
      break;
  }
  platform.inside += some_variation(platform.hosts);
  return platform;
}

}  // namespace dadsim::test
