// Compares pipeline steps by flow with steps by messages. The first and the last stage share a table, and model chunks
// pass from the last stage to the first. An adapter serves one GPU or a whole node.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kNodeShapes[] = {R"(nodes="4" gpus="4" inside="nvlink-3" nic="ib-edr" rails="4")",
                                       R"(nodes="2" gpus="8" inside="nvlink-4" nic="ib-ndr" rails="1")",
                                       R"(nodes="8" gpus="2" inside="nvlink-3" nic="ib-hdr" rails="2")"};
constexpr const char* kTiedModels[] = {
    R"(workload="gpt-2-medium")",
    R"(workload="llama" layers="8" hidden="2048" heads="16" kv-heads="8" feed-forward="5504" vocabulary="32000" sequence="2048" tied="true")"};
constexpr const char* kPipelinesOf16[] = {
    R"(pipeline="4" batch="4" micro-batch="1" sharding="optimizer")", R"(pipeline="8" batch="8" micro-batch="1")",
    R"(pipeline="4" interleave="2" batch="8" micro-batch="1" sharding="optimizer")",
    R"(tensor="2" sequence-parallel="true" pipeline="4" batch="8" micro-batch="2")",
    R"(pipeline="4" batch="4" micro-batch="1" schedule="gpipe")"};

scenario::Scenario pipeline_on(const std::string& nodes, const std::string& timed_as) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("scenario.xml");
  std::ofstream(path) << R"(<scenario name="pipeline" seed="1"><platform><gpu-cluster )" << nodes << R"(/></platform>
  <workers memory="ignore"><worker hosts="gpu-[0-15]" device="h100-sxm5"/></workers>
  <timing-only/><training><adamw/></training>
  <timed-as )" << timed_as
                      << R"( precision="bf16" attention="flash"/>
  <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)";
  return load_scenario(path, {}, make_catalog());
}

TEST(PipelinesByFlow, AreWhatMessagesComeToOrAreLeftToThem) {
  int by_flow = 0;
  int all = 0;
  for (const char* nodes : kNodeShapes) {
    for (const char* pipeline : kPipelinesOf16) {
      const std::string timed_as = std::string(kTiedModels[all++ % 2]) + " " + pipeline;
      scenario::Scenario scenario = pipeline_on(nodes, timed_as);
      scenario.network.fidelity = spec::Fidelity::message;
      const double seconds = run_experiment(scenario, false).runs[0].step_seconds;
      scenario.network.fidelity = spec::Fidelity::flow;
      const report::Result flow = run_experiment(scenario, false);
      EXPECT_NEAR(flow.runs[0].step_seconds, seconds, 0.005 * seconds) << nodes << " " << timed_as;
      if (flow.runs[0].network.fidelity == "flow") ++by_flow;
    }
  }
  EXPECT_GE(by_flow, all / 2);
}

}  // namespace
}  // namespace dadsim::study
