#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

namespace dadsim::test {

/// Draws the parts of a small scenario.
class DrawnScenario {
 public:
  explicit DrawnScenario(unsigned seed) : random_(seed) {}
  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[random_() % values.size()];
  }
  bool maybe() { return random_() % 2 == 0; }

  std::string with(const std::string& sweep) {
    // A sweep draws nothing, so the first draws are the same with and without it.
    const int sites = one_of<int>({1, 2, 3});
    const char* exchange = one_of<const char*>({"aggregator", "peer"});
    std::string runs;
    const std::vector<std::string> synchronous{
        R"(<run algorithm="gradient-sharing" exchange="{}"/>)", R"(<run algorithm="dad" exchange="{}"/>)",
        R"(<run algorithm="rank-dad" cap="2" exchange="{}"/>)",
        R"(<run algorithm="gradient-sharing" label="top, &quot;k&quot;" exchange="{}"><compress method="top-k"/></run>)"};
    for (const std::string& run : synchronous) {
      if (maybe() || runs.empty()) runs += fmt::format(fmt::runtime(run), exchange) + '\n';
    }
    if (maybe()) runs += "<run algorithm=\"pooled\"/>\n";
    const bool event_driven = sites > 1 && maybe();
    if (event_driven) {
      runs += one_of<std::string>(
          {R"(<run algorithm="fedavg" rounds="2" deadline="5"/>)", R"(<run algorithm="async-sgd"/>)"});
    }
    // Draws <timed-as> with known or unknown steps, several seeds, or timing only.
    std::string timed_as =
        event_driven ? ""
                     : one_of<std::string>({"", "", R"(<timed-as workload="resnet-50" batch="4" steps="1000"/>)",
                                            R"(<timed-as workload="gpt-2-medium" batch="1"/>)"});
    // These forms of <timed-as> require several workers that do nothing but sum gradients.
    const bool gradients = runs.find("dad") == std::string::npos && runs.find("compress") == std::string::npos &&
                           runs.find("pooled") == std::string::npos;
    if (!event_driven && !timed_as.empty() && gradients && exchange == std::string("peer")) {
      timed_as = one_of<std::string>(
          {R"(<timed-as workload="gpt-2-small" batch="2" offload="both" offload-rate="20GBps" host-rate="40GBps"/>)",
           R"(<timed-as workload="gpt-2-small" batch="2" micro-batch="1" sharding="parameters" sharding-group="1"/>)",
           fmt::format(R"(<timed-as workload="decoder" layers="2" hidden="64" heads="4" kv-heads="4" feed-forward="128"
             vocabulary="256" sequence="32" experts="6" experts-per-token="2" expert-feed-forward="64"
             expert-parallel="{}" expert-dispatch="fp8" batch="2"/>)",
                       sites)});
    }
    const bool timing_only = !timed_as.empty() && maybe();
    const std::string learning = one_of<std::string>({R"(batch="2")", R"(batch="4")"}) +
                                 (timed_as.empty() ? "" : R"( seeds="2")") +
                                 fmt::format(R"( target-accuracy="{}"{})", one_of<std::string>({"0.12", "0.25", "0.9"}),
                                             maybe() ? R"( stop="target")" : "");
    const std::string learns = timing_only ? "<timing-only/>"
                                           : fmt::format(R"(<data><digits train="{}" test="20"/></data>
  <model><dense units="4"/><dense units="10"/></model>
  <training epochs="3" {}/>)",
                                                         20 * sites, learning);
    const std::string costs = maybe() ? R"(<costs electricity="0.25" carbon="300">
    <price device="rtx-3090" per-hour="0.35"/><price device="xeon-8380" per-hour="1.2"/>
    <spot price="0.4" interruptions="0.01" checkpoint-time="1s" restart="10s"/></costs>)"
                                      : "";
    const std::string network = maybe() ? R"(<network timed-steps="8"/>)" : "";
    const std::string lines = fmt::format(R"(up="{}" latency="{}")", one_of<std::string>({"1Mbps", "20Mbps", "1Gbps"}),
                                          one_of<std::string>({"1ms", "20ms"}));
    return fmt::format(R"(<scenario name="Drawn, &quot;small&quot;" seed="{}">
  <platform><federation><sites name="site" count="{}" down="50Mbps" {}/></federation></platform>
  {}
  <workers><worker hosts="site-[1-{}]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  {}
  {} {} {}
</scenario>
)",
                       1 + random_() % 1000, sites, lines, network, sites, learns, timed_as, costs, runs + sweep);
  }

  /// Returns the scenario with a sweep, whose only point equals the scenario.
  std::string with_itself_as_sweep() {
    return with("<sweep><vary path=\"platform.federation.sites.down\" values=\"50Mbps\"/></sweep>");
  }

 private:
  std::mt19937 random_;
};

}  // namespace dadsim::test
