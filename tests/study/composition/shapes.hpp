#pragma once

#include <string>
#include <vector>

#include "study/composition/cluster_shapes.hpp"
#include "study/composition/neighbour_shapes.hpp"
#include "study/composition/timed_shapes.hpp"

namespace dadsim::study {

/// Returns shapes of data, files and commands.
inline std::vector<Shape> learning_shapes() {
  using namespace shape;
  const std::string table = R"(<csv file="table.csv" target="kind" test-share="0.3"/>)";
  const auto of_data = [](const std::string& source, const std::string& classes) {
    return lines() + "<data>" + source + "</data><model><dense units=\"6\"/><dense units=\"" + classes +
           "\"/></model><training batch=\"3\" epochs=\"1\"/>" + kBoth;
  };
  const std::string idx =
      R"(<idx images="train-images" labels="train-labels" test-images="held-images" test-labels="held-labels"/>)";
  const std::string colours = R"(<cifar10 files="train-colours" test-files="held-colours" train="12" test="6"/>)";
  const std::string series = R"(<ts train-file="train.ts" test-file="held.ts"/>)";
  const std::string words = lines() + R"(<data><text file="words.txt" length="4" train="30" test="8"/></data>
<model><embedding units="4"/><attention heads="2"/><dense units="22" positions="each"/></model>
<training batch="3" epochs="1"/>)";
  const std::string pair_of_sites =
      placed(R"(<federation><sites name="s" count="2" up="20Mbps" down="50Mbps" latency="5ms"/></federation>)",
             "s-[1-2]", "hub");
  const std::string three =
      "<model><dense units=\"6\"/><dense units=\"3\"/></model><training batch=\"3\" epochs=\"1\"/>" + kBoth;
  const std::string uneven = R"(<data><digits train="60" test="10"/><split by="sizes" sizes="6 9 15 30"/></data>
<model><dense units="5" activation="identity"/><dense units="16"/><dense units="10"/></model>)";
  const std::string prices = R"(<price device="a100-sxm4-80" per-hour="2"/><price device="xeon-8380" per-hour="0.5"/>)";
  const auto on = [&](const char* device) {
    return lines("latency=\"20ms\"", "latency=\"5ms\"", "", device) + kLearning + kBoth;
  };
  std::vector<Shape> shapes{
      {"cifar10.files", of_data(colours, "10"), {"held-colours"}},
      {"cifar10.test-files", of_data(colours, "10"), {"train-colours"}},
      {"idx.images", of_data(idx, "10"), {"more-images"}},
      {"idx.labels", of_data(idx, "10"), {"more-labels"}},
      {"idx.test-images", of_data(idx, "10"), {"other-images"}},
      {"idx.test-labels", of_data(idx, "10"), {"other-labels"}},
      {"ts.train-file", of_data(series, "2"), {"held.ts"}},
      {"ts.test-file", of_data(series, "2"), {"train.ts"}},
      {"text.file", words + kBoth, {"lines.txt"}},
      {"csv.file", of_data(table, "3"), {"rows.csv"}},
      {"csv.target", of_data(table, "3"), {"colour"}},
      {"csv.site",
       pair_of_sites + R"(<data><csv file="table.csv" target="kind" site="place" test-share="0.3"/></data>)" + three,
       {"colour"}},
      {"csv.files",
       pair_of_sites + R"(<data><csv files="one.csv,two.csv" target="kind" test-share="0.3"/></data>)" + three,
       {"two.csv,one.csv"}},
      {"attention.bias", words + kBoth},
      {"average-deltas.above",
       lines() +
           R"(<data><digits train="24" test="10"/></data><model><dense units="6"/><dense units="5"/><dense units="10"/></model>
<training batch="3" batches="equal" epochs="1"/>
<run algorithm="flexible" default="edad"><share layers="fc1" statistic="none"/><share layers="fc2" statistic="none"/>
<average-deltas above="fc1"/></run>)",
       {"fc2"}},
      {"csv.ignore",
       of_data(R"(<csv file="table.csv" target="kind" ignore="a" test-share="0.3"/>)", "3"),
       {"b", "a,b"}},
      {"csv.test-file",
       of_data(R"(<csv file="one.csv" target="kind" test-file="two.csv"/>)", "3"),
       {"held.csv", "one.csv"}},
      {"joins.hosts",
       lines() + "<failures><joins hosts=\"s-1\" at=\"300ms\"/></failures>" + kFallible,
       {"s-2", "s-[1-3]"}},
      {"leaves.at",
       lines() + "<failures><leaves hosts=\"s-1\" at=\"50ms\"/></failures>" + kFallible,
       {"100ms", "10ms"}},
      {"outage.stagger",
       lines() +
           "<failures><outage hosts=\"*\" from=\"{20ms|50ms}\" for=\"200ms\" every=\"1s\" "
           "stagger=\"20ms\"/></failures>" +
           kFallible,
       {"0s", "100ms"}},
      {"checkpoint.*", lines() + R"(<failures><fails hosts="*" mtbf="500ms" mttr="50ms"/>
<checkpoint every="5ms" size="100kB" storage="10MBps"/></failures>)" +
                           kFallible},
      {"leaves.hosts",
       lines() + "<failures><leaves hosts=\"s-1\" at=\"{50ms|100ms}\"/></failures>" + kFallible,
       {"s-2", "s-[1-3]"}},
      {"checkpoint.hosts",
       lines() + R"(<failures><fails hosts="*" mtbf="500ms" mttr="50ms"/>
<checkpoint hosts="s-1" every="5ms" size="100kB" storage="10MBps" restore="10ms"/></failures>)" +
           kFallible,
       {"s-2", "*"}},
      {"fails.hosts",
       lines() + "<failures><fails hosts=\"s-1\" mtbf=\"{50ms|200ms}\" mttr=\"100ms\"/></failures>" + kFallible,
       {"s-2", "*"}},
      {"fails.links",
       lines() + "<failures><fails links=\"s-1*\" mtbf=\"{50ms|200ms}\" mttr=\"100ms\"/></failures>" + kFallible,
       {"s-2*", "*"}},
      {"outage.hosts",
       lines() + "<failures><outage hosts=\"s-1\" from=\"{20ms|50ms}\" for=\"2s\"/></failures>" + kFallible,
       {"s-2", "*"}},
      {"outage.links",
       lines() + "<failures><outage links=\"s-1*\" from=\"{20ms|50ms}\" for=\"2s\"/></failures>" + kFallible,
       {"s-2*", "*"}},
      {"availability.hosts",
       lines() + "<availability hosts=\"s-1\" by=\"sessions\" on=\"{60ms|200ms}\" off=\"100ms\"/>" + kFallible,
       {"s-2", "*"}},
      {"availability.file",
       lines() + "<availability hosts=\"s-*\" by=\"file\" file=\"there.txt\"/>" + kFallible,
       {"later.txt"}},
      {"availability.chance", lines() + "<availability hosts=\"*\" by=\"steps\" chance=\"0.5\"/>" + kLearning +
                                  "<run algorithm=\"{gradient-sharing|dad|power-sgd}\" absent=\"without\"/>"},
      {"drift.sites",
       lines() + R"(<data><digits train="24" test="10"/><drift at="{20ms|50ms}" sites="s-1" corruption="noise"/></data>
<model><dense units="10"/></model><training batch="3" epochs="1"/><run algorithm="fedavg" rounds="3"/>)",
       {"s-2", "s-*"}},
      {"drift.severity",
       lines() + R"(<data><digits train="24" test="10"/><drift at="{20ms|50ms}" corruption="noise" severity="3"/></data>
<model><dense units="10"/></model><training batch="3" epochs="1"/><run algorithm="fedavg" rounds="3"/>)"},
      {"costs.*", lines() + kLearning + kBoth + "<costs>" + prices + "</costs>"},
      {"costs.currency", lines() + kLearning + kBoth + "<costs currency=\"EUR\"/>"},
      {"costs.carbon-region",
       lines() + kLearning + kBoth + "<costs carbon-region=\"gcp:europe-west1\"/>",
       {"gcp:us-central1"}},
      {"costs.provider",
       on("a100-sxm4-80") + R"(<costs provider="hyperscalers"><price device="xeon-8380" per-hour="0.5"/></costs>)",
       {"specialists"}},
      {"costs.term",
       on("h100-sxm5") +
           R"(<costs provider="Nebius" term="on-demand"><price device="xeon-8380" per-hour="0.5"/></costs>)",
       {"spot"}},
      {"costs.price-date",
       on("rtx-a6000") + R"(<costs price-date="2023"><price device="xeon-8380" per-hour="0.5"/></costs>)",
       {"2025"}},
      {"price.*", lines() + kLearning + kBoth + "<costs electricity=\"0.3\" carbon=\"300\">" + prices + "</costs>"},
      {"egress.*", lines() + kLearning + kBoth + R"(<costs><egress per-gb="0.1"/></costs>)"},
      {"egress.links",
       lines() + kLearning + kBoth + R"(<costs><egress per-gb="0.1" links="s-1 up"/></costs>)",
       {"hub down"}},
      {"line.link", lines() + kLearning + kBoth + R"(<costs><line link="s-1*" per-mbps-month="3"/></costs>)", {"*"}},
      {"spot.*", lines() + kLearning + kBoth + "<costs>" + prices +
                     R"(<spot price="0.3" interruptions="0.2" checkpoint-time="60s"/></costs>)"},
      // Parameters that have an effect with embeddings, pairs of thin layers, sites of unequal size, or steps without a
      // site.
      {"dad(tables)", words + "<run algorithm=\"dad\"/>"},
      {"partial-dad(tables)", words + "<run algorithm=\"partial-dad\"/>"},
      {"partial-rank-dad(tables)", words + "<run algorithm=\"partial-rank-dad\"/>"},
      {"rank-dad(tables)", words + "<run algorithm=\"rank-dad\"/>"},
      {"ladder.file",
       clique() + R"(<timing-only/><timed-as workload="resnet-50" batch="8"/><ladder file="ladder.json"/>
<run algorithm="gradient-sharing" exchange="peer"/><run algorithm="power-sgd" label="PowerSGD, rank 4" exchange="peer" rank="4"/>)",
       {"other-ladder.json"}},
      {"scale-study.*",
       lines() + R"(<data><digits train="80" test="20"/></data><model><dense units="8"/><dense units="10"/></model>
<training batch="4" epochs="4" target-accuracy="0.3" seeds="2" evaluate-every="1"><adam learning-rate="1e-2"/></training>
<run algorithm="gradient-sharing"/><run algorithm="power-sgd" rank="1"/>
<scale-study><vary path="model.dense[1].units" values="4 8 16 32"/></scale-study>)"},
      {"scale-study.against",
       lines() + R"(<data><digits train="80" test="20"/></data><model><dense units="8"/><dense units="10"/></model>
<training batch="4" epochs="4" target-accuracy="0.3" seeds="2" evaluate-every="1"><adam learning-rate="1e-2"/></training>
<run algorithm="gradient-sharing"/><run algorithm="power-sgd" rank="1"/>
<scale-study against="parameters"><vary path="model.dense[1].units" values="4 8 16 32"/></scale-study>)",
       {"rows-per-width"}}};
  const std::string rounds =
      lines() + uneven + "<training batch=\"5\" epochs=\"2\"><sgd learning-rate=\"0.1\"/></training>";
  for (const char* method : {"fedavg", "fedprox", "fedopt", "scaffold", "dp-fedavg"}) {
    const auto run = [&](const char* attributes) {
      return fmt::format("<run algorithm=\"{}\" rounds=\"3\" {}/>", method, attributes);
    };
    shapes.push_back({fmt::format("{}(minimum)", method),
                      rounds + R"(<availability hosts="s-*" by="sessions" on="{100ms|300ms}" off="300ms"/>)" +
                          run("minimum=\"0.3\""),
                      {"1", "0"}});
    shapes.push_back({fmt::format("{}(retries)", method),
                      rounds + R"(<failures><fails links="s-*" mtbf="{50ms|150ms}" mttr="50ms"/></failures>)" +
                          run("retries=\"0\"")});
    shapes.push_back({fmt::format("{}(over-selection)", method),
                      rounds + run(R"(fraction="0.5" over-selection="1")"),
                      {"2", "1.5"}});
  }
  shapes.push_back({"dp-fedavg(drop-outs)",
                    rounds + R"(<run algorithm="dp-fedavg" rounds="3" noise="local" drop-outs="0.3"/>)",
                    {"0", "0.6"}});
  shapes.push_back({"dp-fedavg(noise-multiplier)", rounds + R"(<run algorithm="dp-fedavg" rounds="3"/>)"});
  for (const char* method : {"hierfavg", "fedasync", "fedbuff"})
    shapes.push_back(
        {fmt::format("{}(local-epochs)", method), rounds + fmt::format("<run algorithm=\"{}\"/>", method)});
  shapes.push_back({"async-sgd(slack)",
                    rounds + R"(<run algorithm="async-sgd" staleness="bounded" updates="12" slack="0"/>)",
                    {"3"}});
  shapes.push_back({"async-sgd(lambda)",
                    rounds + R"(<run algorithm="async-sgd" staleness="compensated" updates="12" lambda="0.1"/>)"});
  for (const char* compressor : {"random-k", "random-block"}) {
    shapes.push_back({fmt::format("{}(whole-below)", compressor),
                      rounds + fmt::format("<run algorithm=\"gradient-sharing\"><compress method=\"{}\" "
                                           "fraction=\"0.1\" whole-below=\"0\"/></run>",
                                           compressor),
                      {"100", "100000"}});
  }
  const std::string flare =
      lines() + R"(<data><digits train="120" test="40"/></data><model><dense units="10"/></model><training batch="5"/>
<run algorithm="flare" duration="20" interval="0.1" samples="10" quantiles="10" local-steps="1" window="2" )";
  shapes.push_back({"flare(tolerance)", flare + R"(schedule="dual" patience="1000" alpha="1" tolerance="0"/>)", {"1"}});
  for (const char* name : {"sample-bytes", "upload-every", "deploy-every"})
    shapes.push_back(
        {fmt::format("flare({})", name), flare + R"(schedule="fixed" upload-every="2" deploy-every="4"/>)"});
  shapes.push_back({"dgc(*", lines() + uneven + R"(<training batch="5" epochs="2"><sgd/></training>
<run algorithm="gradient-sharing"><compress method="dgc" memory="true" fraction="0.{1|3}" warm-up-steps="0"/></run>)"});
  const auto preset = [&](const char* name, const std::string& data, const char* sizes) {
    shapes.push_back({fmt::format("{}(*", name), lines() + "<data>" + data + "</data>" +
                                                     fmt::format("<model preset=\"{}\" {}/>", name, sizes) +
                                                     "<training batch=\"3\" epochs=\"1\"/>" + kBoth});
  };
  preset("lenet", R"(<digits train="24" test="10"/>)", "");
  preset("transformer-classifier", R"(<utterances length="8" train="24" test="10"/>)",
         R"(width="4" heads="1" blocks="1" hidden="6")");
  preset("language-model", R"(<grammar length="6" train="24" test="10"/>)",
         R"(width="4" heads="1" blocks="1" hidden="6")");
  preset("gru-classifier", R"(<utterances length="8" train="24" test="10"/>)", "hidden=\"4\"");
  shapes.push_back({"vit(*", lines() + R"(<data><digits train="24" test="10"/></data>
<model preset="vit" patch="{7|14}" width="4" heads="1" blocks="1" hidden="6"/><training batch="3" epochs="1"/>)" +
                                 kBoth});
  shapes.push_back({"vit(patch)",
                    lines() + R"(<data><digits train="24" test="10"/></data>
<model preset="vit" patch="{7|14}" width="4" heads="1" blocks="1" hidden="6"/><training batch="3" epochs="1"/>)" +
                        kBoth,
                    {"4", "28"}});
  for (const char* method : {"d-psgd", "d2", "gradient-tracking", "choco-sgd", "power-gossip", "sparse-push", "sgp"}) {
    const std::string gossip = lines() + uneven + "<training batch=\"5\" epochs=\"2\"/>";
    shapes.push_back({fmt::format("{}(edges)", method),
                      gossip + fmt::format("<run algorithm=\"{}\" graph=\"file\" edges=\"edges-4.txt\"/>", method),
                      {"star-4.txt"}});
    shapes.push_back({fmt::format("{}(probability)", method),
                      gossip + fmt::format("<run algorithm=\"{}\" graph=\"erdos-renyi\" probability=\"0.5\"/>", method),
                      {"0.9"}});
  }
  for (const char* method : {"partial-gradient-sharing", "partial-dad", "partial-rank-dad"}) {
    shapes.push_back(
        {fmt::format("{}(estimate)", method), lines() + uneven + "<training batch=\"6\" epochs=\"2\"/>" +
                                                  fmt::format("<run algorithm=\"{}\" fraction=\"0.5\"/>", method)});
  }
  return shapes;
}

/// Returns shapes of `dadsim plan` and sweeps.
inline std::vector<Shape> question_shapes() {
  using namespace shape;
  const std::string begin = lines() + kLearning + kBoth;
  const std::string costs =
      R"(<costs electricity="0.3" carbon="300"><price device="a100-sxm4-80" per-hour="2"/></costs>)";
  const std::string rates = R"(<allow path="platform.federation.sites.up" values="10Mbps 50Mbps"/>)";
  const auto goal = [&](const std::string& attributes, const std::string& allows) {
    return begin + costs + "<goal " + attributes + ">" + allows + "</goal>";
  };
  const auto vary = [&](const std::string& of_vary, const std::string& of_sweep = "") {
    return begin + "<sweep " + of_sweep + "><vary " + of_vary + "/></sweep>";
  };
  return {
      {"goal.*", goal("accuracy=\"0.05\"", rates)},
      {"goal.accuracy", goal("accuracy=\"0.05\"", rates), {"0.9"}},
      {"goal.against", goal(R"(accuracy="0.05" set objective="cheapest" against="quickest")", rates)},
      {"goal.objective", goal(R"(accuracy="0.05" objective="cheapest")", rates)},
      {"goal.run", goal(R"(accuracy="0.05" run="hub")", rates), {"peers"}},
      {"goal.scaling",
       clique() + R"(<timing-only/><timed-as workload="resnet-18" batch="4"/>
<run algorithm="gradient-sharing" exchange="peer"/><goal scaling="0.5"><allow path="timed-as.batch" values="1 4 16"/></goal>)",
       {"0.99", "0.1"}},
      {"allow.path",
       goal("within=\"100s\" accuracy=\"0.05\"", R"(<allow path="training.batch" values="2 3"/>)"),
       {"training.epochs"}},
      {"allow.values",
       goal("within=\"100s\" accuracy=\"0.05\"", R"(<allow path="training.batch" values="2 3"/>)"),
       {"2 4", "3"}},
      {"allow.from", goal("within=\"1s\"", R"(<allow path="training.batch" from="2" to="5" whole="true"/>)"), {"3"}},
      {"allow.to", goal("within=\"1s\"", R"(<allow path="training.batch" from="2" to="5" whole="true"/>)"), {"4"}},
      {"allow.whole", goal("within=\"1s\"", R"(<allow path="training.epochs" from="0.5" to="1.5" whole="false"/>)")},
      {"allow.prefer",
       goal("within=\"100s\"", R"(<allow path="training.batch" from="2" to="5" whole="true" prefer="least"/>)")},
      {"allow.unit",
       goal("within=\"100s\"", R"(<allow path="platform.federation.sites.up" values="10 50" unit="Mbps"/>)"),
       {"Gbps"}},
      {"allow.form",
       goal("within=\"100s\"", R"(<allow path="platform.federation.sites.up" values="10 50" form="{}Mbps"/>)"),
       {"{}0Mbps"}},
      {"allow.global-batch",
       clique("8") + R"(<timing-only/><timed-as workload="bert-base" batch="4" steps="100"/>
<run algorithm="gradient-sharing" exchange="peer"/><goal within="1h"><allow layout="any" global-batch="16"/></goal>)",
       {"32"}},
      {"allow.layout", clique("8") + R"(<timing-only/><timed-as workload="bert-base" batch="4" steps="100"/>
<run algorithm="gradient-sharing" exchange="peer"/><goal within="1h"><allow layout="any"/></goal>)"},
      {"vary.path", vary(R"(path="training.batch" values="2 3")"), {"training.epochs"}},
      {"vary.values", vary(R"(path="training.batch" values="2 3")"), {"2 4"}},
      {"vary.from", vary(R"(path="training.epochs" from="1" to="3" steps="3")"), {"2"}},
      {"vary.to", vary(R"(path="training.epochs" from="1" to="3" steps="3")"), {"2"}},
      {"vary.scale", vary(R"(path="training.epochs" from="1" to="3" steps="3")")},
      {"vary.steps", vary(R"(path="training.epochs" from="1" to="3" steps="3")")},
      {"vary.whole", vary(R"(path="training.epochs" from="1" to="6" steps="4" whole="false")")},
      {"vary.unit", vary(R"(path="platform.federation.sites.up" values="10 50" unit="Mbps")"), {"Gbps"}},
      {"vary.form", vary(R"(path="platform.federation.sites.up" values="10 50" form="{}Mbps")"), {"{}0Mbps"}},
      {"sweep.method",
       vary(R"(path="training.epochs" from="1" to="3")", R"(method="random" points="3")"),
       {"latin-hypercube"}},
      {"sweep.points", vary(R"(path="training.epochs" from="1" to="3")", R"(method="random" points="3")")},
      {"sweep.seed", vary(R"(path="training.epochs" from="1" to="3")", R"(method="random" points="3" seed="1")")},
      {"sweep.seeds", vary(R"(path="training.batch" values="2 3")", R"(seeds="1")")},
  };
}

inline const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = [] {
    std::vector<Shape> all;
    for (std::vector<Shape> some :
         {cluster_shapes(), timed_shapes(), learning_shapes(), neighbour_shapes(), question_shapes()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return kShapes;
}

}  // namespace dadsim::study
