#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "study/composition/cluster_shapes.hpp"

namespace dadsim::study {

namespace shape {

/// Data of four clients of unequal size.
inline const std::string kUnequal = R"(<data><digits train="60" test="10"/><split by="sizes" sizes="6 9 15 30"/></data>
<model><dense units="5" activation="identity"/><dense units="16"/><dense units="10"/></model>)";

/// Returns sites whose steps last long enough for an event to happen within one step.
inline std::string slow_steps() {
  return lines(R"(latency="20ms")", R"(latency="5ms")", "", "mine") +
         R"(<device name="mine" peak-flops="20Tf" memory-bandwidth="900GBps" matrix-efficiency="0.5"
memory-efficiency="0.7" launch-overhead="5us" step-time="20ms"/>)";
}

}  // namespace shape

/// Returns shapes in which hosts and links fail within the few seconds of a run.
inline std::vector<Shape> absence_shapes() {
  using namespace shape;
  const auto fails = [](const std::string& what) { return lines() + "<failures>" + what + "</failures>" + kFallible; };
  const std::string outage = R"(<outage hosts="s-1" from="10ms" for="30ms" every="80ms"/>)";
  const std::string diurnal =
      R"(<availability hosts="s-*" by="diurnal" from="0s" until="60ms" period="150ms" spread="50ms"/>)";
  const std::string sessions = R"(<availability hosts="s-*" by="sessions" on="100ms" off="80ms" shape="1.5"/>)";
  const std::string checkpoints = R"(<failures><fails hosts="s-*" mtbf="300ms" mttr="30ms"/>
<checkpoint every="50ms" size="1MB" storage="100MBps" restore="10ms"/></failures>)";
  const std::string drift =
      lines() + R"(<data><digits train="60" test="10"/><drift at="20ms" corruption="noise" severity="3"/></data>
<model><dense units="10"/></model><training batch="3" epochs="1"/><run algorithm="fedavg" rounds="4"/>)";
  return {
      {"outage.every", fails(outage), {"200ms"}},
      {"outage.from", fails(outage), {"50ms"}},
      {"outage.for", fails(outage), {"60ms"}},
      {"joins.at", fails(R"(<joins hosts="s-1" at="300ms"/>)"), {"50ms", "900ms"}},
      {"checkpoint.every",
       slow_steps() + checkpoints + kUnequal +
           R"(<training batch="5" epochs="2"/><run algorithm="gradient-sharing" absent="restart"/><run algorithm="fedavg" rounds="3"/>)",
       {"5ms", "500ms"}},
      {"availability.by",
       lines() + R"(<availability hosts="s-*" by="always" drop-out="0.4" returns="50ms"/>)" + kFallible},
      {"availability.returns",
       lines() + R"(<availability hosts="s-*" by="always" drop-out="0.4" returns="50ms"/>)" + kFallible,
       {"10ms", "900ms"}},
      {"availability.from", lines() + diurnal + kFallible, {"30ms"}},
      {"availability.until", lines() + diurnal + kFallible, {"120ms"}},
      {"availability.period", lines() + diurnal + kFallible, {"300ms"}},
      {"availability.spread", lines() + diurnal + kFallible, {"0s", "140ms"}},
      {"availability.on", lines() + sessions + kFallible, {"500ms"}},
      {"availability.off", lines() + sessions + kFallible, {"500ms"}},
      {"availability.shape", lines() + sessions + kFallible, {"0.5", "4"}},
      {"run.absent-patience",
       lines() + R"(<failures><fails hosts="s-*" mtbf="150ms" mttr="100ms"/></failures>)" + kLearning +
           R"(<run algorithm="gradient-sharing" absent="retry" absent-patience="10ms"/>)",
       {"80ms", "2s"}},
      {"profile.period",
       lines(R"(latency="20ms")", R"(latency="5ms")",
             R"(<profile link="*" times="0s 5ms" factors="1 0.1" period="20ms"/>)") +
           kLarge + kLearning + kBoth,
       {"50ms", "500ms"}},
      {"drift.at", drift, {"90ms", "9s"}},
      {"drift.corruption", drift, {"blur", "contrast"}},
      {"drift.label-alpha",
       lines() + R"(<data><digits train="60" test="10"/><drift at="20ms" label-alpha="0.1"/></data>
<model><dense units="10"/></model><training batch="3" epochs="1"/><run algorithm="fedavg" rounds="4"/>)",
       {"10"}},
  };
}

/// Returns shapes for names that must also occur elsewhere, and for attributes with only one other value.
inline std::vector<Shape> name_shapes() {
  using namespace shape;
  const std::string learned = kLearning + kBoth;
  const std::string flexible = lines() + kUnequal + R"(<training batch="5" epochs="1"/><run algorithm="flexible" )";
  const std::string sharded =
      clique("8") +
      R"(<timing-only/><timed-as workload="decoder" layers="4" hidden="192" heads="6" kv-heads="2" feed-forward="256" vocabulary="500" sequence="64" batch="4" sharding="parameters"/>)";
  const std::string peer = R"(<run algorithm="gradient-sharing" exchange="peer"/>)";
  const std::string experts =
      clique("8") +
      R"(<timing-only/><timed-as workload="decoder" layers="4" hidden="192" heads="6" kv-heads="2" feed-forward="256" vocabulary="500" sequence="64" batch="4" precision="bf16" experts="4" expert-feed-forward="128" expert-parallel="2" )";
  const std::string buckets = lines(R"(latency="1ms")", R"(latency="1ms")") + kLarge + kLearning +
                              R"(<run algorithm="gradient-sharing" exchange="peer" bucket="20MB" first-bucket="1MB"/>)";
  return {
      {"platform.file",
       R"(<platform file="star.xml"/><workers><worker hosts="h-[0-3]" device="a100-sxm4-80"/><aggregator host="hub" device="xeon-8380"/></workers>)" +
           learned,
       {"narrow.xml"}},
      {"federation.name",
       placed(
           R"(<federation name="f"><sites name="s" count="6" up="200Mbps" down="1Gbps" latency="20ms"/></federation>)",
           "f.s-[1-4]", "f.hub") +
           learned,
       {"g"}},
      {"gpu-cluster.name",
       placed(R"(<gpu-cluster name="a" nodes="6" gpus="1" nic="10Gbps"/>)", "a.gpu-[0-3]", "a.gpu-5") + learned,
       {"b"}},
      {"wan.name",
       placed(
           R"(<wan name="w" host="ethernet-10g"><region name="aws:us-east-1" hosts="5"/><region name="aws:eu-west-1" hosts="2"/></wan>)",
           "w.aws:us-east-1-[1-4]", "w.aws:us-east-1-5") +
           learned,
       {"v"}},
      {"sites.name", lines() + learned, {"t"}},
      {"more-nodes.nodes", groups(R"(nodes="2" gpus="2" inside="pcie-3" nic="10Gbps")") + learned, {"1", "3"}},
      {"region.name", regions("") + learned, {"aws:us-west-2"}},
      {"device.name", slow_steps() + learned, {"other"}},
      {"run.algorithm", lines() + kLearning + R"(<run algorithm="gradient-sharing"/>)", {"dad", "fedavg"}},
      {"compress.method",
       lines() + kUnequal +
           R"(<training batch="5" epochs="1"/><run algorithm="gradient-sharing"><compress method="top-k" fraction="0.1"/></run>)",
       {"random-k", "gaussian-k"}},
      {"share.layers", flexible + R"(default="gradient"><share layers="fc1" statistic="dad"/></run>)", {"fc2", "*"}},
      {"share.statistic",
       flexible + R"(default="gradient"><share layers="fc1" statistic="dad"/></run>)",
       {"edad", "rank-dad"}},
      {"run.reduce-scatter", sharded + R"(<run algorithm="gradient-sharing" exchange="peer" reduce-scatter="ring"/>)"},
      {"run.bucket", buckets, {"5MB", "0B"}},
      {"run.first-bucket", buckets, {"10MB", "20kB"}},
      {"training.stop",
       lines() + R"(<data><digits train="60" test="20"/></data><model><dense units="10"/></model>
<training batch="3" epochs="3" evaluate-every="1" target-accuracy="0.05" stop="target"/>)" +
           kBoth,
       {"budget"}},
      {"training.exact",
       lines() + kUnequal +
           R"(<training batch="5" epochs="2" exact="each"/><run algorithm="gradient-sharing"/><run algorithm="dad"/>)",
       {"once"}},
      {"schedule.milestones",
       lines() + R"(<data><digits train="24" test="10"/></data><model><dense units="10"/></model>
<training batch="3" epochs="3"><schedule kind="steps" milestones="1" factor="0.1"/></training>)" +
           kBoth,
       {"2", "1 2"}},
      {"schedule.kind",
       lines() + R"(<data><digits train="24" test="10"/></data><model><dense units="10"/></model>
<training batch="3" epochs="2"><schedule kind="cosine"/></training>)" +
           kBoth,
       {"constant"}},
      {"split.by",
       lines() + R"(<data><digits train="60" test="10"/><split by="iid"/></data><model><dense units="10"/></model>
<training batch="3" epochs="1"/>)" +
           kBoth,
       {"class"}},
      {"split.sizes", lines() + kUnequal + R"(<training batch="5" epochs="1"/>)" + kBoth, {"30 15 9 6"}},
      {"timed-as.expert-dispatch", experts + R"(expert-dispatch="fp8"/>)" + peer},
      {"timed-as.expert-exchange", experts + R"(expert-exchange="once"/>)" + peer},
      {"timed-as.expert-launch", experts + R"(expert-launch="counted"/>)" + peer},
  };
}

/// Returns shapes for parameters of methods and compressors that have an effect only together with others.
inline std::vector<Shape> parameter_shapes() {
  using namespace shape;
  std::vector<Shape> shapes;
  const std::string rounds =
      lines() + kUnequal + R"(<training batch="5" epochs="2"><sgd learning-rate="0.1"/></training>)";
  const auto run = [&](const std::string& method, const std::string& attributes) {
    return rounds + fmt::format("<run algorithm=\"{}\" {}/>", method, attributes);
  };
  for (const char* method : {"fedavg", "fedprox"}) {
    shapes.push_back({fmt::format("{}(partial)", method),
                      run(method, R"(rounds="3" local-epochs="3" stragglers="0.6" partial="keep")"),
                      {"drop"}});
  }
  for (const char* method : {"fedavg", "fedprox", "fedopt", "scaffold", "dp-fedavg"})
    shapes.push_back({fmt::format("{}(deadline)", method), run(method, R"(rounds="3" deadline="0.1")"), {"0", "0.05"}});
  for (const char* method : {"fedavg", "dp-fedavg"}) {
    const char* noise = std::string(method) == "fedavg" ? "" : R"(noise="local")";
    shapes.push_back({fmt::format("{}(secure-bits)", method),
                      run(method, fmt::format(R"(rounds="2" secure="yes" secure-bits="32" {})", noise)),
                      {"64", "8"}});
  }
  for (const char* method : {"fedasync", "fedbuff", "hierfavg"}) {
    shapes.push_back({fmt::format("{}(retries)", method),
                      rounds + R"(<failures><fails links="s-*" mtbf="{50ms|150ms}" mttr="50ms"/></failures>)" +
                          fmt::format("<run algorithm=\"{}\" retries=\"0\"/>", method)});
  }
  shapes.push_back(
      {"flare(quantiles)",
       lines() + R"(<data><digits train="600" test="40"/></data><model><dense units="10"/></model><training batch="5"/>
<run algorithm="flare" duration="20" interval="0.1" samples="10" quantiles="10" local-steps="1" window="2" patience="3" alpha="1"/>)",
       {"20"}});
  shapes.push_back(
      {"fedopt(tau)", run("fedopt", R"(rounds="3" server="adam" server-rate="0.05" tau="0.001")"), {"0.1"}});
  shapes.push_back({"fedopt(beta2)", run("fedopt", R"(rounds="3" server="adam" server-rate="0.05")")});
  shapes.push_back({"cogd(staleness)", run("cogd", R"(update="stale" staleness="2")"), {"1", "3"}});
  shapes.push_back({"lsg(memory)", run("lsg", R"(mask="magnitude" density="0.3" rank="2")")});
  shapes.push_back({"forward-gradient(blocks)", run("forward-gradient", R"(loss="local")")});
  shapes.push_back({"forward-gradient(groups)",
                    lines() + R"(<data><digits train="60" test="10"/></data>
<model><dense units="6"/><dense units="8"/><dense units="10"/></model><training batch="5" epochs="1"/>
<run algorithm="forward-gradient" loss="local" groups="2"/>)",
                    {"1"}});
  const auto sidco = [&](const std::string& attributes) {
    return rounds +
           fmt::format("<run algorithm=\"gradient-sharing\"><compress method=\"sidco\" {}/></run>", attributes);
  };
  shapes.push_back({"sidco(quantile)", sidco(R"(fit="gamma" fraction="0.1" quantile="exact")")});
  shapes.push_back({"sidco(stages)", sidco(R"(fraction="0.01" adapt="none" stages="1")"), {"2", "4"}});
  shapes.push_back({"redsync(fraction)",
                    rounds + R"(<run algorithm="gradient-sharing"><compress method="redsync" fraction="0.1"/></run>)"});
  const auto flexible = [&](const char* attributes) { return run("flexible", attributes); };
  shapes.push_back({"flexible(lossy)", flexible(R"(policy="bytes" lossy="false")")});
  shapes.push_back({"flexible(default)", flexible(R"(default="gradient")"), {"dad", "rank-dad"}});
  for (const char* name : {"cap", "iterations", "tolerance"})
    shapes.push_back({fmt::format("flexible({})", name), flexible(R"(default="rank-dad")")});
  return shapes;
}

inline std::vector<Shape> neighbour_shapes() {
  std::vector<Shape> all;
  for (const std::vector<Shape>& some : {absence_shapes(), name_shapes(), parameter_shapes()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace dadsim::study
