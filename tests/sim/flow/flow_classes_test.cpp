#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/declared.hpp"
#include "sim/flow/flow.hpp"
#include "sim/network/fluid.hpp"
#include "sim/network/rank_layout.hpp"
#include "sim/platform/engine.hpp"
#include "sim/process/child_process.hpp"
#include "support/wire.hpp"

// Compares rates of classes of pairs with rates of single pairs, and repeated rounds with a new model.

namespace dadsim::sim {
namespace {

using enum step::CollectiveKind;

/// Results of one flow model whose ranks begin at `begins`: end dates of the ranks and bytes of links.
struct FlowOutcomes {
  std::vector<double> dates, loads;
  std::vector<double> again, afresh;  ///< end dates of a second collective with other begins: with the same model, and
                                      ///< with a new model
  double classes = 0, pairs = 0;
  std::string refusal;
};

FlowOutcomes flow_outcomes(const spec::PlatformSpec& platform, const CollectiveJob& job, bool by_classes) {
  FlowOutcomes outcome;
  const auto body = [&](const MessageSink& sink) {
    const auto engine = load_engine(platform);
    std::vector<simgrid::s4u::Host*> hosts;
    for (const std::string& name : host_names(platform)) hosts.push_back(engine->host_by_name(name));
    Interconnect network(*engine, false, spec::Transport::plain);
    const auto rounds = lay_out(job.request, job.algorithm, rank_layout(hosts, network));
    std::vector<double> dates(hosts.size(), 0);
    std::vector<double> later(hosts.size());
    for (std::size_t rank = 0; rank < later.size(); ++rank) later[rank] = 1e-5 * static_cast<double>(rank * 7 % 5);
    std::vector<double> afresh = later;
    std::vector<double> loads;
    FlowModel flow(network, hosts, by_classes);
    FlowModel other(network, hosts, by_classes);
    std::string refusal;
    const auto run = [&](FlowModel& model, std::vector<double>& begins) {
      if (const Refused refused = refusal.empty() ? model.run(*rounds, begins) : Refused()) refusal = refused->fault;
      return refusal.empty();
    };
    if (run(flow, dates)) {
      // Link numbers depend on the order in which routes are requested, so loads are compared by name.
      std::map<std::string, LinkLoad> by_name;
      for (std::size_t link = 0; link < flow.loads().size(); ++link) {
        if (flow.loads()[link].payload > 0) by_name[network.links()[link].name] = flow.loads()[link];
      }
      for (const auto& [name, load] : by_name) {
        loads.push_back(load.payload);
        loads.push_back(load.wire);
      }
      if (run(flow, later)) run(other, afresh);
    }
    WireWriter message;
    message << dates << loads << later << afresh << static_cast<double>(flow.classes_and_pairs().first)
            << static_cast<double>(flow.classes_and_pairs().second) << std::string_view(refusal);
    sink.send(message.bytes());
    std::_Exit(0);
  };
  const ChildOutcome ended = run_in_child(body, [&](std::string_view bytes) {
    WireReader message(bytes);
    message >> outcome.dates >> outcome.loads >> outcome.again >> outcome.afresh >> outcome.classes >> outcome.pairs >>
        outcome.refusal;
  });
  if (!ended.complete()) throw std::runtime_error(ended.description() + ": " + ended.output);
  return outcome;
}

double largest_deviation(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) most = std::max(most, std::abs(a[i] - b[i]) / std::max(std::abs(a[i]), std::abs(b[i])));
  }
  return a.size() == b.size() ? most : 1;
}

std::int64_t drawn(std::int64_t first, std::int64_t last) { return *rc::gen::inRange(first, last + 1); }

spec::LinkSpec drawn_link(spec::Transport transport) {
  const double bandwidth = std::pow(10.0, 9 + static_cast<double>(drawn(0, 20)) / 10);
  return test::line(bandwidth, 1e-6 * static_cast<double>(drawn(0, 5)), transport,
                    0.1 * static_cast<double>(drawn(5, 10)));
}

/// Returns up to 128 GPUs connected by a switch, a fat tree, a dragonfly or a torus, or in two clusters.
spec::PlatformSpec drawn_platform() {
  spec::GpuClusterSpec cluster = test::cluster_of(2 * drawn(1, 8), drawn(1, 8), drawn_link(spec::Transport::nvlink),
                                                  drawn_link(spec::Transport::rdma));
  cluster.rails = drawn(1, cluster.gpus);
  const spec::LinkSpec trunk = drawn_link(spec::Transport::rdma);
  switch (drawn(0, 3)) {
    case 0:
      break;
    case 1:
      cluster.fabric = test::fat_tree(drawn(1, cluster.nodes), cluster.nic, static_cast<double>(drawn(1, 3)));
      break;
    case 2:
      cluster.fabric = test::dragonfly(2, 1, cluster.nodes / 2, trunk);
      break;
    case 3:
      cluster.fabric.kind = spec::FabricSpec::Kind::torus;
      cluster.fabric.link = trunk;
      cluster.fabric.dimensions = {2, cluster.nodes / 2};
      break;
  }
  if (drawn(0, 3) > 0) return {"", cluster, {}, {}};
  spec::CompositionSpec composition;
  for (const char* name : {"a", "b"}) {
    cluster.name = name;
    composition.clusters.emplace_back(cluster);
  }
  composition.pairs = {{"a", "b", 1e9, 0.01, spec::Transport::rdma}, {"b", "a", 2e9, 0.01, spec::Transport::rdma}};
  return {"", composition, {}, {}};
}

CollectiveJob drawn_job() {
  static const std::vector<std::pair<step::CollectiveKind, std::string>> all{{all_reduce, "ring"},
                                                                             {all_reduce, "one-ring"},
                                                                             {all_reduce, "hierarchical-pipelined"},
                                                                             {all_reduce, "halving-doubling"},
                                                                             {all_reduce, "double-binary-tree"},
                                                                             {all_reduce, "direct"},
                                                                             {all_gather, "bruck"},
                                                                             {all_gather, "direct"},
                                                                             {all_to_all, "direct"},
                                                                             {all_to_all, "pairwise"},
                                                                             {reduce_scatter, "ring"},
                                                                             {broadcast, "binomial"}};
  const auto& [kind, algorithm] = *rc::gen::elementOf(all);
  return test::job(kind, algorithm, std::pow(10.0, static_cast<double>(drawn(3, 8))));
}

TEST(FlowClasses, FareAsTheirPairsDoEachByItself) {
  int divided = 0;
  int compared = 0;
  const bool held = rc::check("classes equal pairs", [&] {
    for (int i = 0; i < 2; ++i) {  // two cases per sample, as RapidCheck draws only 100 samples
      const spec::PlatformSpec platform = drawn_platform();
      const CollectiveJob job = drawn_job();
      RC_LOG(fmt::format("{} {} of {:g} B, {} hosts, kind {}", job.algorithm, to_string(job.request.kind),
                         job.request.bytes.front(), host_names(platform).size(), platform.what.index()));
      const FlowOutcomes classes = flow_outcomes(platform, job, true);
      const FlowOutcomes pairs = flow_outcomes(platform, job, false);
      RC_LOG(classes.refusal + " / " + pairs.refusal);
      RC_ASSERT(classes.refusal == pairs.refusal);
      RC_ASSERT(pairs.classes == pairs.pairs);
      if (!classes.refusal.empty()) continue;
      ++compared;
      divided += classes.classes < classes.pairs ? 1 : 0;
      RC_ASSERT(largest_deviation(classes.dates, pairs.dates) < 1e-6);
      RC_ASSERT(largest_deviation(classes.loads, pairs.loads) < 1e-6);
      RC_ASSERT(classes.again == classes.afresh);
      RC_ASSERT(pairs.again == pairs.afresh);
      // With different begin dates the errors of classes add up: ranks less than 0.3 % of the time apart count as in
      // step.
      RC_ASSERT(largest_deviation(classes.again, pairs.again) < 1e-3);
    }
  });
  EXPECT_TRUE(held);
  // Flow accepts most of the drawn cases, and at least a quarter of them have fewer classes than pairs.
  EXPECT_GT(compared, 100);
  EXPECT_GT(divided, compared / 4);
}

/// Returns 32 GPUs, eight per node.
spec::PlatformSpec four_nodes() {
  spec::GpuClusterSpec cluster = test::cluster_of(4, 8, test::line(450e9, 1e-6, spec::Transport::nvlink, 0.8),
                                                  test::line(50e9, 2e-6, spec::Transport::rdma, 0.9));
  cluster.rails = 8;
  return {"", cluster, {}, {}};
}

TEST(FlowClasses, AreFewWhereAllIsAlike) {
  const FlowOutcomes outcome = flow_outcomes(four_nodes(), test::job(all_to_all, "direct", 1e6), true);
  EXPECT_EQ(outcome.pairs, 32 * 31);
  EXPECT_EQ(outcome.classes, 2);  // one class inside nodes, one between nodes
}

TEST(FlowClasses, ArePairsWhereNoTwoAreAlike) {
  CollectiveJob job = test::job(all_gather, "direct", 1e6);
  for (int rank = 1; rank < 32; ++rank) job.request.bytes.push_back(1e6 + 1e4 * rank * rank);
  const FlowOutcomes outcome = flow_outcomes(four_nodes(), job, true);
  EXPECT_EQ(outcome.refusal, flow_outcomes(four_nodes(), job, false).refusal);
  EXPECT_EQ(outcome.classes, outcome.pairs);
}

TEST(FlowClasses, OneFlowForSeveralGetsTheRateOfEach) {
  // Six flows use a link of 12 byte/s, and three of them also a link of 3 byte/s. Two classes of three flows get the
  // same rates as six single flows.
  struct Kind {
    std::vector<std::int32_t> links;
    std::vector<double> flows;
  };
  const auto rates_of = [](const std::vector<Kind>& kinds) {
    Fluid fluid;
    fluid.set_capacity(0, 12);
    fluid.set_capacity(1, 3);
    for (const Kind& kind : kinds)
      fluid.begin(fluid.add(kind.links, kind.flows, std::numeric_limits<double>::infinity()), 1, 0);
    fluid.share(0);
    std::vector<double> rates;
    for (std::size_t i = 0; i < kinds.size(); ++i) rates.push_back(fluid.rate(static_cast<std::int32_t>(i)));
    return rates;
  };
  const Kind narrow{{0, 1}, {}}, wide{{0}, {}};
  EXPECT_EQ(rates_of({narrow, narrow, narrow, wide, wide, wide}), (std::vector<double>{1, 1, 1, 3, 3, 3}));
  EXPECT_EQ(rates_of({{{0, 1}, {3, 3}}, {{0}, {3}}}), (std::vector<double>{1, 3}));
}

}  // namespace
}  // namespace dadsim::sim
