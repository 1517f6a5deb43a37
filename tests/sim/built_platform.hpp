#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sim/platform/engine.hpp"
#include "sim/process/compat.hpp"
#include "spec/platform_specification.hpp"

// Builds a declared platform in this process's engine and checks it. A process can build only one, since SimGrid's
// engine is a singleton.

namespace dadsim::test {

inline spec::LinkSpec link_spec(const std::string& name, double bandwidth, double latency,
                                spec::Transport transport = spec::Transport::rdma, double efficiency = 0.5) {
  spec::LinkSpec link;
  link.name = name;
  link.bandwidth = bandwidth;
  link.latency = latency;
  link.transport = transport;
  link.efficiency = efficiency;
  link.queue_bytes = 1234;
  return link;
}

/// Returns `nodes` × `gpus` with ports of 300 byte/s and 1 s, and adapters of 50 byte/s and 10 s of latency.
inline spec::GpuClusterSpec gpu_cluster(std::int64_t nodes, std::int64_t gpus, std::int64_t rails = 1) {
  spec::GpuClusterSpec cluster;
  cluster.nodes = nodes;
  cluster.gpus = gpus;
  cluster.port = link_spec("port", 300, 1, spec::Transport::nvlink, 0.75);
  cluster.rails = rails;
  cluster.nic = link_spec("nic", 50, 10);
  return cluster;
}

class BuiltPlatform {
 public:
  explicit BuiltPlatform(spec::PlatformSpec spec) : spec_(std::move(spec)), engine_(sim::load_engine(spec_)) {}

  std::vector<std::string> route(const std::string& from, const std::string& to, double* latency = nullptr,
                                 double* narrowest = nullptr) const {
    std::vector<simgrid::s4u::Link*> links;
    double seconds = 0;
    engine_->host_by_name(from)->route_to(engine_->host_by_name(to), links, &seconds);
    std::vector<std::string> names;
    double least = std::numeric_limits<double>::infinity();
    for (const simgrid::s4u::Link* link : links) {
      names.push_back(link->get_name());
      least = std::min(least, link->get_bandwidth());
    }
    if (latency != nullptr) *latency = seconds;
    if (narrowest != nullptr) *narrowest = least;
    return names;
  }

  void expect_route(const std::string& from, const std::string& to, const std::vector<std::string>& names,
                    double latency, double bandwidth) const {
    double seconds = 0;
    double narrowest = 0;
    EXPECT_EQ(route(from, to, &seconds, &narrowest), names) << from << " → " << to;
    EXPECT_DOUBLE_EQ(seconds, latency) << from << " → " << to;
    EXPECT_DOUBLE_EQ(narrowest, bandwidth) << from << " → " << to;
  }

  void expect_link(const std::string& name, const spec::LinkSpec& spec) const {
    const simgrid::s4u::Link* link = simgrid::s4u::Link::by_name_or_null(name);
    ASSERT_NE(link, nullptr) << name;
    EXPECT_DOUBLE_EQ(link->get_bandwidth(), spec.bandwidth) << name;
    EXPECT_DOUBLE_EQ(link->get_latency(), spec.latency) << name;
    const auto property = [&](const char* key) {
      const char* text = link->get_property(key);
      return std::string(text == nullptr ? "none" : text);
    };
    EXPECT_EQ(property("transport"), to_string(spec.transport)) << name;
    EXPECT_DOUBLE_EQ(std::stod(property("efficiency")), spec.efficiency) << name;
    EXPECT_DOUBLE_EQ(std::stod(property("queue")), spec.queue_bytes) << name;
    EXPECT_EQ(property("class"), spec.name) << name;
  }

  std::string node_of(const std::string& host) const {
    const char* text = engine_->host_by_name(host)->get_property("node");
    return text == nullptr ? "none" : text;
  }

  /// Expects exactly the hosts that the specification promises.
  void expect_hosts() const {
    std::vector<std::string> promised = host_names(spec_);
    std::vector<std::string> found;
    for (const simgrid::s4u::Host* host : engine_->get_all_hosts()) found.push_back(host->get_name());
    std::ranges::sort(promised);
    std::ranges::sort(found);
    EXPECT_EQ(found, promised);
  }

  /// Returns the seconds until messages of `bytes`, one per pair and all started together, have arrived.
  double send(const std::vector<std::pair<std::string, std::string>>& pairs, double bytes) const {
    for (const auto& [from, to] : pairs) {
      simgrid::s4u::Host* source = engine_->host_by_name(from);
      simgrid::s4u::Host* target = engine_->host_by_name(to);
      sim::compat::add_actor(from, source,
                             [=] { simgrid::s4u::Comm::sendto(source, target, static_cast<std::uint64_t>(bytes)); });
    }
    engine_->run();
    return simgrid::s4u::Engine::get_clock();
  }

  simgrid::s4u::Engine& engine() const { return *engine_; }

 private:
  spec::PlatformSpec spec_;
  std::unique_ptr<simgrid::s4u::Engine> engine_;
};

/// Returns the message of the error that building the platform throws. The call uses up the process's engine, so it
/// must be the last of a test.
inline std::string failure_to_build(const spec::PlatformSpec& spec) {
  try {
    sim::load_engine(spec);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace dadsim::test
