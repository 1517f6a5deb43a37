#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "schedule/schedule.hpp"
#include "sim/simulator.hpp"

// Parts of several simulation tests: a star platform whose times can be computed by hand, and schedules.

namespace dadsim::test {

/// A temporary file that is deleted with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content, const std::string& ending = ".xml") {
    static int serial = 0;
    path_ = std::filesystem::temp_directory_path() / fmt::format("dadsim-{}-{}{}", ::getpid(), ++serial, ending);
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// Returns a platform file with one zone of hosts, links and routes; `before` and `after` are the text around the zone.
inline std::string platform_xml(const std::string& body, const std::string& routing = "Full",
                                const std::string& before = "", const std::string& after = "") {
  return fmt::format(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n{}<zone id=\"zone\" routing=\"{}\">\n{}\n</zone>\n{}</platform>\n",
      before, routing, body, after);
}

/// A star of workers "w0" …, each with one link up and one down, and a hub. `hub_rate` gives the hub a shared link in
/// each direction.
struct Star {
  std::size_t workers = 2;
  double rate = 1e6;      ///< byte/s of every link
  double latency = 0.01;  ///< seconds of every link of a worker
  double hub_rate = 0;    ///< byte/s of "hub-in" and "hub-out" (no latency); 0: no such links

  std::string xml() const {
    std::string body = "<host id=\"hub\" speed=\"3Gf\"/>\n";
    const auto link = [](const std::string& name, double bandwidth, double seconds) {
      return fmt::format("<link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\"/>\n", name, bandwidth, seconds);
    };
    const auto route = [](const std::string& from, const std::string& to, const std::vector<std::string>& links) {
      std::string text = fmt::format("<route src=\"{}\" dst=\"{}\" symmetrical=\"NO\">", from, to);
      for (const std::string& name : links) text += fmt::format("<link_ctn id=\"{}\"/>", name);
      return text + "</route>\n";
    };
    for (std::size_t w = 0; w < workers; ++w) body += fmt::format("<host id=\"w{}\" speed=\"2Gf\"/>\n", w);
    for (std::size_t w = 0; w < workers; ++w) {
      body += link(fmt::format("up{}", w), rate, latency) + link(fmt::format("down{}", w), rate, latency);
    }
    if (hub_rate > 0) body += link("hub-in", hub_rate, 0) + link("hub-out", hub_rate, 0);
    for (std::size_t w = 0; w < workers; ++w) {
      const std::string name = fmt::format("w{}", w);
      std::vector<std::string> up{fmt::format("up{}", w)};
      std::vector<std::string> down{fmt::format("down{}", w)};
      if (hub_rate > 0) {
        up.emplace_back("hub-in");
        down.insert(down.begin(), "hub-out");
      }
      body += route(name, "hub", up) + route("hub", name, down);
      for (std::size_t v = 0; v < workers; ++v) {
        if (v != w) body += route(name, fmt::format("w{}", v), {fmt::format("up{}", w), fmt::format("down{}", v)});
      }
    }
    return platform_xml(body);
  }

  /// Returns the seconds for which a message occupies its links; the next message of its pair follows then.
  double transfer(double bytes) const { return bytes / rate; }
  /// Returns the seconds of a message between a worker and the hub, alone on its links.
  double to_hub(double bytes) const { return latency + bytes / rate; }
  /// Returns the seconds of a message between two workers.
  double between(double bytes) const { return 2 * latency + bytes / rate; }
};

/// Returns a device that takes one second per launch.
inline spec::DeviceSpec clockwork() {
  return {.name = "clockwork",
          .description = "one second per launch",
          .peak_flops = 1e12,
          .memory_bandwidth = 1e12,
          .matrix_efficiency = 1,
          .memory_efficiency = 1,
          .launch_overhead = 1,
          .source = "made up"};
}

/// Returns a platform file whose numbers are used as written.
inline spec::PlatformSpec platform_file(const std::string& path) {
  return {"", spec::PlatformFileSpec{path, spec::Transport::plain}, {}, {}};
}

inline sim::Cluster cluster_on(const std::string& platform, std::size_t workers, bool aggregator = true) {
  sim::Cluster cluster;
  cluster.platform = platform_file(platform);
  for (std::size_t w = 0; w < workers; ++w) {
    cluster.hosts.push_back(fmt::format("w{}", w));
    cluster.devices.push_back(clockwork());
  }
  if (aggregator) {
    cluster.aggregator_host = "hub";
    cluster.aggregator_device = clockwork();
  }
  return cluster;
}

inline schedule::PerWorker same(double value) { return schedule::PerWorker(std::vector<double>{value}); }

/// Builds a schedule, task by task. Adding a collective returns its index, for a later wait.
class Script {
 public:
  explicit Script(std::size_t workers, bool aggregator = true) {
    schedule_.workers = workers;
    schedule_.uses_aggregator = aggregator;
  }
  Script& compute(schedule::PerWorker seconds, step::Role who = step::Role::workers) {
    schedule_.tasks.push_back(
        {"layer", schedule::ComputeTask{step::Phase::forward, who, same(0), same(0), std::move(seconds)}});
    return *this;
  }
  Script& compute(double seconds, step::Role who = step::Role::workers) { return compute(same(seconds), who); }
  std::int32_t collective(step::CollectiveKind kind, schedule::PerWorker bytes, const std::string& algorithm = "auto") {
    schedule_.tasks.push_back({"layer", schedule::CollectiveTask{kind, std::move(bytes), algorithm}});
    return static_cast<std::int32_t>(schedule_.tasks.size()) - 1;
  }
  std::int32_t gather(schedule::PerWorker bytes) { return collective(step::CollectiveKind::gather, std::move(bytes)); }
  std::int32_t gather(double bytes) { return gather(same(bytes)); }
  /// Gathers and answers. Workers do not wait for messages that they send, so they wait for an empty answer, which the
  /// aggregator sends once it has received everything.
  Script& gather_and_answer(schedule::PerWorker bytes) {
    wait(gather(std::move(bytes)), step::Role::aggregator);
    return wait(broadcast(0));
  }
  Script& gather_and_answer(double bytes) { return gather_and_answer(same(bytes)); }
  std::int32_t broadcast(double bytes) { return collective(step::CollectiveKind::broadcast, same(bytes)); }
  /// Adds an all-reduce around a ring.
  std::int32_t all_reduce(double bytes) { return collective(step::CollectiveKind::all_reduce, same(bytes), "ring"); }
  /// Adds an all-gather around a ring.
  std::int32_t all_gather(schedule::PerWorker bytes) {
    return collective(step::CollectiveKind::all_gather, std::move(bytes), "ring");
  }
  Script& wait(std::int32_t index, step::Role who = step::Role::workers) {
    schedule_.tasks.push_back({"layer", schedule::WaitTask{who, index}});
    return *this;
  }
  schedule::Schedule schedule() const { return schedule_; }

 private:
  schedule::Schedule schedule_;
};

/// Returns the timing of one schedule on a star.
inline step::StepTiming time_on(const Star& star, const schedule::Schedule& schedule) {
  const TemporaryFile file(star.xml());
  const std::vector<schedule::Schedule> schedules{schedule};
  return sim::time_schedules(cluster_on(file.path(), star.workers, schedule.uses_aggregator), schedules).steps.at(0);
}

}  // namespace dadsim::test
