#include "study/import/recorded_step.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "scenario/elements/read_workload.hpp"
#include "scenario/xml/findings.hpp"
#include "schedule/schedule.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

using formats::ChakraNode;
using formats::ChakraTrace;
using What = RecordedStep::RecordedTask::TraceTask;

/// Writes traces, node by node.
struct TraceWriter {
  ChakraTrace trace;

  std::uint64_t add(ChakraNode node) {
    node.id = trace.nodes.size() + 1;
    trace.nodes.push_back(std::move(node));
    return trace.nodes.back().id;
  }
  std::uint64_t compute(const std::string& name, double seconds, std::vector<std::uint64_t> after = {}) {
    ChakraNode node;
    node.type = ChakraNode::NodeType::compute;
    node.name = name;
    node.seconds = seconds;
    node.after = std::move(after);
    return add(std::move(node));
  }
  std::uint64_t sum(double bytes, const std::string& group, std::vector<std::uint64_t> after) {
    ChakraNode node;
    node.type = ChakraNode::NodeType::collective;
    node.name = "sum";
    node.bytes = bytes;
    node.group = group;
    node.after = std::move(after);
    return add(std::move(node));
  }
  std::uint64_t message(ChakraNode::NodeType type, std::int64_t from, std::int64_t to, double bytes,
                        std::vector<std::uint64_t> after) {
    ChakraNode node;
    node.type = type;
    node.name = "activations";
    node.source = from;
    node.destination = to;
    node.bytes = bytes;
    node.after = std::move(after);
    return add(std::move(node));
  }
};

/// Returns a trace of the backward pass of two layers with overlapping all-reduces, a host operation, and an update
/// that waits for both all-reduces.
ChakraTrace data_parallel(double slower, const std::string& group = "") {
  TraceWriter rank;
  const auto second = rank.compute("layer 2", 0.2 * slower);
  const auto sum_second = rank.sum(4e6, group, {second});
  const auto first = rank.compute("layer 1", 0.1 * slower, {second});
  const auto sum_first = rank.sum(8e6, group, {first, sum_second});
  ChakraNode host;
  host.type = ChakraNode::NodeType::compute;
  host.on_host = true;
  host.seconds = 9;
  host.after = {sum_second, sum_first};
  const auto launched = rank.add(host);
  rank.compute("update", 0.05, {launched});
  return rank.trace;
}

std::shared_ptr<const schedule::Schedule> read_back(const RecordedStep& step) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("step.xml", file_of_recorded_step("a step", step));
  scenario::Findings findings(path);
  const auto own = scenario::read_workload_file(path, findings);
  findings.throw_if_any();
  return own ? own->recorded : nullptr;
}

TEST(RecordedStepTest, KeepsTimesOfEachRankAndWhatGoesOnBeside) {
  const RecordedStep step = recorded_step_of({data_parallel(1), data_parallel(3)}, {});
  EXPECT_EQ(step.workers, 2);
  EXPECT_EQ(step.host_operations, 2U);
  const auto schedule = read_back(step);
  ASSERT_NE(schedule, nullptr);
  // tasks: layer 2, its all-reduce, layer 1, its all-reduce, two waits, update
  ASSERT_EQ(schedule->tasks.size(), 7U);
  const auto& layer = std::get<schedule::ComputeTask>(schedule->tasks[0].what);
  EXPECT_TRUE(layer.recorded);
  EXPECT_DOUBLE_EQ(layer.seconds[0], 0.2);
  EXPECT_DOUBLE_EQ(layer.seconds[1], 0.6);
  EXPECT_DOUBLE_EQ(std::get<schedule::CollectiveTask>(schedule->tasks[1].what).bytes[1], 4e6);
  EXPECT_EQ(std::get<schedule::WaitTask>(schedule->tasks[4].what).collective, 1);
  EXPECT_EQ(std::get<schedule::WaitTask>(schedule->tasks[5].what).collective, 3);
  EXPECT_DOUBLE_EQ(std::get<schedule::ComputeTask>(schedule->tasks[6].what).seconds[1], 0.05);
}

TEST(RecordedStepTest, TellsTensorGroupsFromReplicas) {
  const std::map<std::string, std::vector<std::int64_t>> groups{
      {"t0", {0, 1}}, {"t1", {2, 3}}, {"d0", {0, 2}}, {"d1", {1, 3}}};
  std::vector<ChakraTrace> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    TraceWriter writer;
    const auto layer = writer.compute("layer", 0.1);
    const auto of_layer = writer.sum(1e6, fmt::format("t{}", rank / 2), {layer});
    const auto next = writer.compute("next layer", 0.1 + 0.1 * (rank / 2), {of_layer});
    writer.compute("update", 0.1, {writer.sum(2e6, fmt::format("d{}", rank % 2), {next})});
    ranks.push_back(writer.trace);
  }
  const auto schedule = read_back(recorded_step_of(ranks, groups));
  ASSERT_NE(schedule, nullptr);
  EXPECT_EQ(schedule->tensor, 2);
  ASSERT_EQ(schedule->tasks.size(), 7U);
  EXPECT_EQ(std::get<schedule::CollectiveTask>(schedule->tasks[1].what).among, schedule::Among::tensor);
  EXPECT_EQ(std::get<schedule::CollectiveTask>(schedule->tasks[4].what).among, schedule::Among::replicas);
  EXPECT_DOUBLE_EQ(std::get<schedule::ComputeTask>(schedule->tasks[3].what).seconds[1], 0.2);
}

TEST(RecordedStepTest, StagesLieAsFarApartAsMessagesGo) {
  std::vector<ChakraTrace> ranks;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    TraceWriter first;
    const auto done = first.compute("forward", 0.1 * static_cast<double>(rank + 1));
    first.message(ChakraNode::NodeType::send, rank, rank + 2, 5e6, {done});
    ranks.push_back(first.trace);
  }
  for (std::int64_t rank = 2; rank < 4; ++rank) {
    TraceWriter second;
    second.compute("loss", 0.3, {second.message(ChakraNode::NodeType::receive, rank - 2, rank, 5e6, {})});
    ranks.push_back(second.trace);
  }
  const auto schedule = read_back(recorded_step_of(ranks, {}));
  ASSERT_NE(schedule, nullptr);
  EXPECT_EQ(schedule->pipeline, 2);
  ASSERT_EQ(schedule->tasks.size(), 4U);
  EXPECT_EQ(std::get<schedule::CollectiveTask>(schedule->tasks[1].what).to_stage, 1);
  EXPECT_EQ(schedule->tasks[2].stage, 1);
  EXPECT_EQ(std::get<schedule::WaitTask>(schedule->tasks[2].what).collective, 1);
}

// The profile of one rank holds kernels, an all-reduce, and the host's call that launched it.
TEST(RecordedStepTest, OfOneRankTheOthersAreAskedFor) {
  TraceWriter rank;
  const auto layer = rank.compute("layer", 0.12);
  ChakraNode call;
  call.type = ChakraNode::NodeType::collective;
  call.name = "the host's call";
  call.on_host = true;
  call.after = {layer};
  const auto called = rank.add(call);
  rank.compute("update", 0.005, {rank.sum(1e8, "", {called})});
  try {
    recorded_step_of({rank.trace}, {});
    FAIL() << "an all-reduce of one rank";
  } catch (const std::runtime_error& fault) {
    EXPECT_EQ(std::string(fault.what()),
              "has only one rank's trace, with 1 collective among several ranks ('sum' of 100 MB); the number of ranks "
              "is not known");
  }
  const RecordedStep step = recorded_step_of({rank.trace}, {}, 4);
  EXPECT_EQ(step.workers, 4);
  EXPECT_EQ(step.host_operations, 4U);
  ASSERT_EQ(step.tasks.size(), 4U);  // tasks: layer, all-reduce, wait, update
  EXPECT_EQ(step.tasks[1].amounts, std::vector<double>(4, 1e8));
  const auto collectives = [](const RecordedStep& one) {
    return std::ranges::count(one.tasks, What::collective, &RecordedStep::RecordedTask::what);
  };
  EXPECT_EQ(collectives(recorded_step_of({rank.trace, rank.trace, rank.trace, rank.trace}, {})), 1);
  // All ranks have groups of the shape that the recorded rank has.
  TraceWriter divided;
  const auto of_layer = divided.sum(1e6, "t", {divided.compute("layer", 0.1)});
  divided.compute("update", 0.1, {divided.sum(2e6, "d", {divided.compute("next layer", 0.1, {of_layer})})});
  const RecordedStep two = recorded_step_of({divided.trace}, {{"t", {0, 1}}, {"d", {0, 2}}}, 4);
  EXPECT_EQ(two.tensor, 2);
  EXPECT_EQ(collectives(two), 2);
  EXPECT_THROW(recorded_step_of({divided.trace}, {{"t", {0, 1}}, {"d", {0, 2}}}), std::runtime_error);
  // If the trace has host operations only, the host carries out the collectives.
  for (ChakraNode& node : rank.trace.nodes) node.on_host = true;
  EXPECT_EQ(collectives(recorded_step_of({rank.trace}, {}, 2)), 2);
}

TEST(RecordedStepTest, SaysWhatDoesNotFit) {
  const auto fault = [](const std::vector<ChakraTrace>& ranks,
                        const std::map<std::string, std::vector<std::int64_t>>& groups) {
    try {
      recorded_step_of(ranks, groups);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  TraceWriter short_one;
  short_one.compute("layer 2", 0.1);
  EXPECT_NE(fault({data_parallel(1), short_one.trace}, {}).find("rank 1"), std::string::npos);
  TraceWriter twice;
  twice.compute("a", 1);
  twice.trace.nodes.push_back(twice.trace.nodes.front());
  EXPECT_NE(fault({twice.trace}, {}).find("two nodes 1"), std::string::npos);
  TraceWriter circle;
  circle.compute("a", 1, {2});
  circle.compute("b", 1, {1});
  EXPECT_NE(fault({circle.trace}, {}).find("depend on themselves"), std::string::npos);
  TraceWriter lonely;
  lonely.compute("a", 1, {lonely.message(ChakraNode::NodeType::receive, 1, 0, 5, {})});
  TraceWriter silent;
  silent.compute("a", 1);
  EXPECT_NE(fault({lonely.trace, silent.trace}, {}).find("sends no such message"), std::string::npos);
  // A group of three of four ranks is no tensor or replica group.
  EXPECT_FALSE(fault({data_parallel(1, "g"), data_parallel(1, "g"), data_parallel(1, "g"), data_parallel(1, "h")},
                     {{"g", {0, 1, 2}}, {"h", {3}}})
                   .empty());
}

}  // namespace
}  // namespace dadsim::study
