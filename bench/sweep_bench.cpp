// Compares timing one learned trajectory on 100 platforms with learning it.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim {
namespace {

constexpr int kPlatforms = 100;

/// Returns the processor seconds so far of this process and its children; each simulation runs in a child.
double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return sum;
}

/// Returns hospitals.xml with one algorithm, and with lines that are declared in the scenario.
std::string hospitals(const std::string& run, const std::string& network) {
  std::ifstream file(std::string(DADSIM_SOURCE_DIR) + "/scenarios/hospitals.xml");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto replace = [&](const std::string& begin, const std::string& end, const std::string& by) {
    const std::size_t from = text.find(begin);
    const std::size_t to = text.rfind(end);
    if (from == std::string::npos || to == std::string::npos) throw std::logic_error("another hospitals.xml");
    text.replace(from, to + end.size() - from, by);
  };
  replace("<platform", "transport=\"tcp\"/>",
          "<platform><federation><sites name=\"hospital\" count=\"5\" up=\"20Mbps\" down=\"100Mbps\" latency=\"10ms\"/>"
          "<hub up=\"1Gbps\" down=\"1Gbps\" latency=\"0ms\"/></federation></platform>" +
              network);
  replace("<run", "</scenario>", run + "</scenario>");
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "dadsim-sweep-bench.xml";
  std::ofstream(path) << text;
  return path.string();
}

using Settings = std::vector<std::string>;

/// Learns once with the settings of `problem`, and times the result with the settings of each point.
void retime(benchmark::State& state, const scenario::ScenarioSource& source, const Settings& problem,
            const std::vector<Settings>& points) {
  const scenario::Catalog catalog = study::remembering(study::make_catalog());  // with a cache, as in a sweep
  const double start = cpu_seconds();
  const study::Learned learned = study::learn_scenario(source.load(problem, catalog), nullptr, false);
  const double learning = cpu_seconds() - start;
  double timing = 0;
  double loading = 0;
  for (auto _ : state) {
    const double before = cpu_seconds();
    for (const Settings& point : points) {
      const double start_of_point = cpu_seconds();
      const scenario::Scenario scenario = source.load_point(point, catalog);
      loading += cpu_seconds() - start_of_point;
      benchmark::DoNotOptimize(time_scenario(scenario, learned, study::cluster_of(scenario), false));
    }
    timing = cpu_seconds() - before;
    state.SetIterationTime(timing);
  }
  state.counters["learning_s"] = learning;
  state.counters["ms_per_platform"] = 1e3 * timing / kPlatforms;
  state.counters["of_it_loading"] = 1e3 * loading / kPlatforms;
  double steps = 0;
  for (const auto& run : learned.runs) steps += static_cast<double>(run->trajectory.distinct_steps.size());
  state.counters["distinct_steps"] = steps;
  state.counters["retiming/learning"] = timing / learning;
}

void retiming(benchmark::State& state, const std::string& run, const std::string& network, const std::string& units,
              const std::string& images) {
  const Settings problem{"model.dense[1].units=" + units, "data.digits.train=" + images};
  std::vector<Settings> points(kPlatforms, problem);
  for (int i = 0; i < kPlatforms; ++i) {
    const double up = std::pow(10.0, 3.0 * i / (kPlatforms - 1));  // 1 … 1,000 Mbit/s
    points[static_cast<std::size_t>(i)].push_back("platform.federation.sites.up=" + std::to_string(up) + "Mbps");
  }
  retime(state, scenario::ScenarioSource(hospitals(run, network)), problem, points);
}

/// Learns and times a shipped scenario on its own platform, in every iteration.
void whole(benchmark::State& state, const std::string& scenario) {
  const scenario::ScenarioSource source(std::string(DADSIM_SOURCE_DIR) + "/scenarios/" + scenario + ".xml");
  retime(state, source, {}, std::vector<Settings>(kPlatforms));
}

/// Each case runs one iteration and measures its own time, as learning from 60,000 images (MNIST's size) takes a
/// minute.
const bool registered = [] {
  struct Case {
    std::string name, run, network;
  };
  const std::vector<Case> cases{
      {"gradient-sharing", "<run algorithm=\"gradient-sharing\"/>", ""},
      {"dad", "<run algorithm=\"dad\"/>", ""},
      {"rank-dad-of-rank-16", "<run algorithm=\"rank-dad\" cap=\"16\" tolerance=\"0\"/>", ""},
      {"rank-dad", "<run algorithm=\"rank-dad\" cap=\"16\"/>", ""},
      {"rank-dad-32-timed-steps", "<run algorithm=\"rank-dad\" cap=\"16\"/>", "<network timed-steps=\"32\"/>"}};
  for (const Case& one : cases) {
    for (const char* images : {"8000", "60000"}) {
      for (const char* units : {"256", "1024"}) {
        benchmark::RegisterBenchmark(("retiming/" + one.name + "/" + units + "/" + images).c_str(), retiming, one.run,
                                     one.network, units, images)
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  for (const std::string scenario : {"hospitals", "paper-gru", "paper-vit"}) {
    benchmark::RegisterBenchmark(("whole/" + scenario).c_str(), whole, scenario)
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace dadsim
