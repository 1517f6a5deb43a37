#pragma once

#include <string>
#include <utility>
#include <vector>

#include "study/composition/drawing.hpp"

namespace dadsim::test {

/// A platform, and the hosts on which workers and an aggregator can be placed.
struct DrawnCluster {
  Element platform;
  Texts hosts;      ///< at least eight hosts
  std::string hub;  ///< host for an aggregator
};

class ClusterDrawing {
 public:
  explicit ClusterDrawing(Drawing& draw) : draw_(draw) {}

  DrawnCluster cluster() {
    DrawnCluster cluster{.platform = {.name = "platform", .origin = {}}, .hosts = {}, .hub = {}};
    switch (draw_.between(0, 9)) {
      case 0:
      case 1:
      case 2:
      case 3:
        cluster.platform.children.push_back(federation("", cluster));
        break;
      case 4:
      case 5:
      case 6:
        cluster.platform.children.push_back(gpu_cluster("", cluster));
        break;
      case 7:
        cluster.platform.children.push_back(wan(cluster));
        break;
      case 8:
        cluster.platform.children.push_back(gpu_cluster("a", cluster));
        cluster.platform.children.push_back(federation("b", cluster));
        cluster.platform.children.push_back(pair("a", "b"));
        break;
      default:
        file(cluster);
    }
    if (draw_.chance(0.1)) Drawing::set(cluster.platform, "description", "drawn");
    variation(cluster);
    return cluster;
  }

 private:
  /// Draws the attributes of the line of a site or a hub, with latencies if they are needed.
  Element line(const std::string& name, std::map<std::string, std::string> own) {
    if (draw_.chance(0.2)) {
      own.insert({{"latency", ""}, {"up-latency", "3ms"}, {"down-latency", "8ms"}});
    } else {
      own.insert({"latency", draw_.one_of({"1ms", "20ms", "200ms"})});
      own.insert({"down-latency", ""});
    }
    measured(own);
    if (draw_.chance(0.1)) {  // a measured goodput already includes the attributes that are removed here
      own.insert({{"measured", "goodput"}, {"queue", ""}, {"congestion", ""}, {"efficiency", ""}, {"transport", ""}});
      own.insert({"per-connection", draw_.one_of({"2Mbps", "9Mbps"})});
    }
    return draw_.element(name, own, 0.12);
  }

  /// Sometimes marks the line as measured, which `per-connection` requires.
  void measured(std::map<std::string, std::string>& own) {
    if (draw_.chance(0.2)) {
      own.insert({{"measured", "goodput"}, {"queue", ""}, {"congestion", ""}, {"transport", ""}});
    } else {
      own.insert({{"measured", ""}, {"per-connection", ""}});
      if (draw_.chance(0.5)) own.insert({"queue", ""});
    }
  }

  Element federation(const std::string& name, DrawnCluster& cluster) {
    Element federation = draw_.element("federation", {{"name", name}});
    const std::string prefix = name.empty() ? "" : name + ".";
    const bool two = draw_.chance(0.3);
    for (int i = 1; i <= (two ? 4 : 8); ++i) cluster.hosts.push_back(prefix + fmt::format("s-{}", i));
    federation.children.push_back(line("sites", {{"name", "s"}, {"count", two ? "4" : "8"}}));
    if (two) {
      federation.children.push_back(line("sites", {{"name", "t"}, {"count", "4"}}));
      for (int i = 1; i <= 4; ++i) cluster.hosts.push_back(prefix + fmt::format("t-{}", i));
    }
    if (draw_.chance(0.4)) federation.children.push_back(line("hub", {}));
    cluster.hub = prefix + "hub";
    return federation;
  }

  Element gpu_cluster(const std::string& name, DrawnCluster& cluster) {
    const std::int64_t gpus = draw_.one_of({"1", "2", "4"})[0] - '0';
    const std::int64_t nodes = gpus == 4 ? 3 : gpus == 2 ? 6 : 9;
    const bool own = draw_.chance(0.4);
    std::map<std::string, std::string> values{
        {"name", name},
        {"nodes", std::to_string(nodes)},
        {"gpus", std::to_string(gpus)},
        {"nic", own ? draw_.one_of({"5Gbps", "100Gbps"}) : draw_.one_of({"ib-edr", "ethernet-10g"})}};
    values["rails"] = gpus > 1 && draw_.chance(0.3) ? "2" : "";
    if (gpus == 1 && draw_.chance(0.9)) {
      for (const char* one : {"inside", "inside-latency", "inside-transport", "mesh", "bridge", "bridge-latency"})
        values[one] = "";
    } else if (gpus > 1) {
      values["inside"] = draw_.one_of({"nvlink-3", "pcie-3", "100GBps"});
      values["bridge"] = draw_.one_of({"", "", "pcie-3", "8GBps"});
      if (values["bridge"] != "8GBps" || draw_.chance(0.5)) values["bridge-latency"] = "";
      if (values["inside"] != "100GBps") values["inside-transport"] = "";
      if (draw_.chance(0.7)) values["mesh"] = "";
    }
    values["slot-gpus"] = gpus > 1 && draw_.chance(0.2) ? "2" : "";
    if (!values["slot-gpus"].empty()) values["slot"] = draw_.one_of({"pcie-3", "3Gbps"});
    if (!own && draw_.chance(0.8)) values["transport"] = "";
    if (values["nic"] != "ethernet-10g")
      for (const char* one : {"sockets", "socket-threads", "congestion", "queue"}) values.insert({one, ""});
    Element element = draw_.element("gpu-cluster", values, 0.2);
    const auto fabric = draw_.between(0, 5);
    std::int64_t all = nodes * gpus;
    if (fabric == 5) {  // no fabric at all; a torus or a dragonfly may need more hosts than there are
      const bool alone = draw_.chance(0.5);
      std::map<std::string, std::string> other{{"nodes", "2"},
                                               {"gpus", alone ? "1" : "2"},
                                               {"rails", draw_.one_of({"", "1", "2"})},
                                               {"inside", alone ? "" : "pcie-3"},
                                               {"mesh", ""},
                                               {"slot-gpus", values["slot-gpus"].empty() ? "" : "1"},
                                               {"nic", draw_.one_of({"", "25Gbps"})}};
      if (alone) other["inside-latency"] = "";
      if (alone || draw_.chance(0.7)) other["bridge"] = other["bridge-latency"] = "";
      if (other["nic"].empty()) other["nic-latency"] = "";
      element.children.push_back(draw_.element("more-nodes", other, 0.3));
      all += alone ? 2 : 4;
    }
    switch (fabric) {
      case 0:
        element.children.push_back(draw_.element("one-switch"));
        break;
      case 1:
        element.children.push_back(draw_.element("fat-tree", {{"nodes-per-switch", draw_.one_of({"2", "3"})}}, 0.4));
        break;
      case 2:
        element.children.push_back(draw_.element(
            "dragonfly", {{"groups", "3"}, {"routers", nodes == 9 ? "3" : "1"}, {"nodes", nodes == 6 ? "2" : "1"}},
            0.4));
        break;
      case 3:
        element.children.push_back(draw_.element("torus",
                                                 {{"dimensions", nodes == 9   ? "3x3"
                                                                 : nodes == 6 ? "2x3"
                                                                              : "3"}},
                                                 0.4));
        break;
      default:
        break;
    }
    const std::string prefix = name.empty() ? "" : name + ".";
    for (std::int64_t i = 0; i + 1 < all; ++i) cluster.hosts.push_back(prefix + fmt::format("gpu-{}", i));
    cluster.hub = prefix + fmt::format("gpu-{}", all - 1);
    return element;
  }

  Element pair(const std::string& from, const std::string& to) {
    std::map<std::string, std::string> own{{"from", from}, {"to", to}, {"one-way", ""}};
    measured(own);
    return draw_.element("pair", own, 0.2);
  }

  Element wan(DrawnCluster& cluster) {
    const bool own = draw_.chance(0.5);
    std::map<std::string, std::string> values{{"name", ""},
                                              {"host-bandwidth", own ? draw_.one_of({"20Mbps", "1Gbps"}) : ""}};
    values["host"] = own ? "" : draw_.one_of({"ethernet-1g", "ethernet-10g"});
    if (own) values["host-latency"] = draw_.one_of({"50us", "1ms"});
    Element element = draw_.element("wan", values, 0.25);
    const bool regions = draw_.chance(0.4);
    const std::string left = regions ? "aws:us-east-1" : "west", right = regions ? "aws:eu-west-1" : "east";
    element.children.push_back(draw_.element("region", {{"name", left}, {"hosts", "5"}}));
    element.children.push_back(draw_.element("region", {{"name", right}, {"hosts", "4"}}));
    if (!regions || draw_.chance(0.3)) {
      const bool both = draw_.chance(0.6);
      Element one = pair(left, right);
      if (!both) {
        Drawing::set(one, "one-way", "true");
        Element other = pair(right, left);
        Drawing::set(other, "one-way", "true");
        element.children.push_back(other);
      }
      element.children.push_back(one);
    }
    for (int i = 1; i <= 4; ++i) cluster.hosts.push_back(fmt::format("{}-{}", left, i));
    for (int i = 1; i <= 4; ++i) cluster.hosts.push_back(fmt::format("{}-{}", right, i));
    cluster.hub = left + "-5";
    return element;
  }

  void file(DrawnCluster& cluster) {
    const bool simgrid = draw_.chance(0.6);
    Drawing::set(cluster.platform, "file", simgrid ? "star.xml" : "cluster.xml");
    if (simgrid && draw_.chance(0.5))
      Drawing::set(cluster.platform, "transport", draw_.one_of({"plain", "tcp", "rdma", "nvlink"}));
    for (int i = 0; i < 8; ++i) cluster.hosts.push_back(fmt::format("{}-{}", simgrid ? "h" : "gpu", i));
    cluster.hub = simgrid ? "hub" : "gpu-8";
  }

  void variation(DrawnCluster& cluster) {
    const auto maybe = [&](const char* name, double share, std::map<std::string, std::string> own) {
      if (draw_.chance(share)) cluster.platform.children.push_back(draw_.element(name, own, 0.5));
    };
    maybe("change", 0.1, {{"link", "*"}});
    maybe("profile", 0.1,
          {{"link", "*"},
           {"of", draw_.one_of({"bandwidth", "latency"})},
           {"times", "0s 50ms"},
           {"factors", draw_.one_of({"1 0.2", "0.3 1"})},
           {"period", draw_.one_of({"", "100ms", "5s"})}});
    // With a shorter interval, a step that takes days would simulate hundreds of millions of messages.
    maybe("background", 0.1,
          {{"from", cluster.hosts[0]},
           {"to", cluster.hosts[1]},
           {"every", draw_.one_of({"500ms", "5s"})},
           {"bytes", draw_.one_of({"20kB", "200kB"})}});
  }

  Drawing& draw_;
};

}  // namespace dadsim::test
