#include "sim/flow/event_classes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/declared.hpp"
#include "sim/flow/flow_events.hpp"
#include "sim/flow/flow_routes.hpp"
#include "sim/network/rank_layout.hpp"
#include "sim/platform/engine.hpp"
#include "sim/process/child_process.hpp"
#include "support/wire.hpp"

// Compares messages simulated class by class with messages simulated one by one, for ranks that begin at different
// dates.

namespace dadsim::sim {
namespace {

using enum step::CollectiveKind;

/// Results of a collective whose ranks begin at given dates: end dates and bytes of links, by classes and by pairs.
struct EventOutcomes {
  std::vector<double> by_classes, by_pairs, loads_by_classes, loads_by_pairs;
  double classes = 0;  ///< number of classes of ranks; 0: no classes found
  double classes_of_pairs = 0;
  double messages = 0;
};

EventOutcomes event_outcomes(const spec::PlatformSpec& platform, const CollectiveJob& job,
                             const std::vector<double>& begins) {
  EventOutcomes outcome;
  const auto body = [&](const MessageSink& sink) {
    const auto engine = load_engine(platform);
    std::vector<simgrid::s4u::Host*> hosts;
    for (const std::string& name : host_names(platform)) hosts.push_back(engine->host_by_name(name));
    Interconnect network(*engine, false, spec::Transport::plain);
    const auto rounds = lay_out(job.request, job.algorithm, rank_layout(hosts, network));
    FlowRoutes routes(network, hosts);
    const MessageGraph graph(*rounds, routes, network, hosts);
    const std::optional<EventClasses> classes = graph.classes(begins);
    const auto followed = [&](const EventClasses* by, std::vector<double>& dates) {
      FlowEvents events(network, hosts);
      dates = begins;
      if (const Refused refused = events.run(*rounds, dates, by)) throw std::runtime_error(refused->fault);
      std::vector<double> loads;
      for (const LinkLoad& load : events.loads()) {
        loads.push_back(load.payload);
        loads.push_back(load.wire);
      }
      return loads;
    };
    std::vector<double> by_pairs;
    std::vector<double> by_classes;
    const std::vector<double> loads_by_pairs = followed(nullptr, by_pairs);
    std::vector<double> loads_by_classes = loads_by_pairs;
    if (classes) {
      loads_by_classes = followed(&*classes, by_classes);
    } else {
      by_classes = by_pairs;
    }
    WireWriter message;
    message << by_classes << by_pairs << loads_by_classes << loads_by_pairs
            << static_cast<double>(classes ? classes->first.size() : 0)
            << static_cast<double>(classes ? classes->pairs.size() : 0)
            << messages_of(*rounds, all_ranks(*rounds), 1e3 * FlowEvents::kMostMessages);
    sink.send(message.bytes());
    std::_Exit(0);
  };
  const ChildOutcome ended = run_in_child(body, [&](std::string_view bytes) {
    WireReader message(bytes);
    message >> outcome.by_classes >> outcome.by_pairs >> outcome.loads_by_classes >> outcome.loads_by_pairs >>
        outcome.classes >> outcome.classes_of_pairs >> outcome.messages;
  });
  if (!ended.complete()) throw std::runtime_error(ended.description() + ": " + ended.output);
  return outcome;
}

double farthest_apart(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) most = std::max(most, std::abs(a[i] - b[i]) / std::max(std::abs(a[i]), std::abs(b[i])));
  }
  return a.size() == b.size() ? most : 1;
}

std::int64_t any_of(std::int64_t first, std::int64_t last) { return *rc::gen::inRange(first, last + 1); }

/// Returns any number of nodes of GPUs with adapters as rails, connected by a switch, a fat tree or a dragonfly.
spec::PlatformSpec any_nodes() {
  const double nvlink = std::pow(10.0, 10.5 + static_cast<double>(any_of(0, 10)) / 10);
  const double nic = std::pow(10.0, 9.5 + static_cast<double>(any_of(0, 10)) / 10);
  spec::GpuClusterSpec cluster =
      test::cluster_of(any_of(2, 13), any_of(1, 8), test::line(nvlink, 1e-6, spec::Transport::nvlink, 0.8),
                       test::line(nic, 2e-6, spec::Transport::rdma, 0.9));
  cluster.rails = *rc::gen::elementOf(std::vector<std::int64_t>{1, cluster.gpus, any_of(1, cluster.gpus)});
  const std::int64_t fabric = any_of(0, 2);
  if (fabric == 1) {
    cluster.fabric = test::fat_tree(any_of(1, cluster.nodes), cluster.nic, static_cast<double>(any_of(1, 3)));
  }
  if (fabric == 2 && cluster.nodes % 2 == 0) {
    cluster.fabric = test::dragonfly(2, 1, cluster.nodes / 2, test::line(nic, 3e-6, spec::Transport::rdma, 0.9));
  }
  return {"", cluster, {}, {}};
}

CollectiveJob any_tree() {
  static const std::vector<std::pair<step::CollectiveKind, std::string>> all{{all_reduce, "tree"},
                                                                             {all_reduce, "nvls-tree"},
                                                                             {all_reduce, "double-binary-tree"},
                                                                             {all_reduce, "hierarchical-pipelined"},
                                                                             {all_reduce, "halving-doubling"},
                                                                             {all_reduce, "ring"},
                                                                             {broadcast, "binomial"},
                                                                             {all_gather, "bruck"}};
  const auto& [kind, algorithm] = *rc::gen::elementOf(all);
  return test::job(kind, algorithm, std::pow(10.0, static_cast<double>(any_of(3, 6))));
}

TEST(EventClasses, FareAsEveryMessageByItself) {
  int compared = 0;
  int apart = 0;
  const bool held = rc::check("messages by classes equal messages one by one", [&] {
    const spec::PlatformSpec platform = any_nodes();
    const auto& cluster = std::get<spec::GpuClusterSpec>(platform.what);
    const CollectiveJob job = any_tree();
    // Ranks begin all at the same date, at one date per node, at one date per local rank, or with a few ranks late.
    const std::int64_t how = any_of(0, 3);
    const auto drawn_dates = *rc::gen::container<std::vector<double>>(
        static_cast<std::size_t>(cluster.nodes * cluster.gpus),
        rc::gen::map(rc::gen::inRange(0, 4), [](int late) { return 1e-5 * late; }));
    std::vector<double> begins;
    for (std::int64_t rank = 0; rank < cluster.nodes * cluster.gpus; ++rank) {
      const std::int64_t like = how == 0 ? 0 : how == 1 ? rank / cluster.gpus : how == 2 ? rank % cluster.gpus : rank;
      begins.push_back(how == 0 ? 0.5 : drawn_dates[static_cast<std::size_t>(like)]);
    }
    RC_LOG(fmt::format("{} of {:g} B, {} nodes of {}, {} rails, dates {}", job.algorithm, job.request.bytes.front(),
                       cluster.nodes, cluster.gpus, cluster.rails, how));
    EventOutcomes outcome;
    try {
      outcome = event_outcomes(platform, job, begins);
    } catch (const std::runtime_error& error) {
      RC_LOG(error.what());
      // Discards the case if the algorithm does not support this number of nodes.
      RC_PRE(std::string_view(error.what()).find("nodes") == std::string_view::npos);
      throw;
    }
    if (outcome.classes == 0) return;
    ++compared;
    apart += how == 0 ? 0 : 1;
    RC_LOG(fmt::format("{} classes of {} ranks", outcome.classes, begins.size()));
    // For many messages, rounds are skipped and their time extrapolated to within 0.1 %.
    const double most = outcome.messages <= 2e5 ? 1e-6 : 1e-3;
    std::vector<double> taken_by_classes;
    std::vector<double> taken_by_pairs;
    for (std::size_t rank = 0; rank < begins.size(); ++rank) {
      taken_by_classes.push_back(outcome.by_classes[rank] - begins.front());
      taken_by_pairs.push_back(outcome.by_pairs[rank] - begins.front());
    }
    RC_ASSERT(farthest_apart(taken_by_classes, taken_by_pairs) < most);
    RC_ASSERT(farthest_apart(outcome.loads_by_classes, outcome.loads_by_pairs) < 1e-9);
  });
  EXPECT_TRUE(held);
  EXPECT_GT(compared, 25);
  EXPECT_GT(apart, 5);
}

/// Returns five nodes of eight GPUs, with an adapter per GPU.
spec::PlatformSpec five_nodes() {
  spec::GpuClusterSpec cluster = test::cluster_of(5, 8, test::line(450e9, 1e-6, spec::Transport::nvlink, 0.8),
                                                  test::line(50e9, 2e-6, spec::Transport::rdma, 0.9));
  cluster.rails = 8;
  return {"", cluster, {}, {}};
}

TEST(EventClasses, RailsOfTreesAreAlike) {
  const EventOutcomes outcome =
      event_outcomes(five_nodes(), test::job(all_reduce, "nvls-tree", 1e6), std::vector<double>(40, 0));
  EXPECT_LE(outcome.classes, 5);
  EXPECT_LE(outcome.classes_of_pairs, 5 + 2 * 2 * 4);  // 5 classes inside a node, and 2 · 2 · 4 for both directions of
                                                       // the four edges of two trees
}

TEST(EventClasses, OneLateRankSetsItsNodeApart) {
  std::vector<double> begins(40, 0);
  begins[9] = 1e-4;
  const EventOutcomes outcome = event_outcomes(five_nodes(), test::job(all_reduce, "nvls-tree", 1e6), begins);
  EXPECT_EQ(outcome.classes, 10);  // for each of five nodes: the late rank's rail, and the seven other rails
  EXPECT_LT(farthest_apart(outcome.by_classes, outcome.by_pairs), 1e-9);
}

TEST(EventClasses, ThereAreNoneWhereAllBeginApart) {
  std::vector<double> begins;
  for (int rank = 0; rank < 40; ++rank) begins.push_back(1e-6 * rank);
  EXPECT_EQ(event_outcomes(five_nodes(), test::job(all_reduce, "nvls-tree", 1e6), begins).classes, 0);
}

}  // namespace
}  // namespace dadsim::sim
