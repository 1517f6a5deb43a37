
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/cost.hpp"
#include "algorithms/gossip/edge_subspace.hpp"
#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/gossip/public_copies.hpp"
#include "algorithms/gossip/topology.hpp"
#include "algorithms/methods.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

step::Expression beside_the_matrix() { return step::extent::parameters() - step::extent::in() * step::extent::out(); }

/// Work per edge of a site: orthonormalising the vectors (as in pieces/subspace.cpp: four products of columns), and a
/// product of the matrix with them.
step::Work products_work(const step::Expression& rank, double edges, bool even) {
  const step::Expression matrix = step::extent::in() * step::extent::out();
  const step::Expression side = even ? step::extent::out() : step::extent::in();
  return {.flops = edges * (4.0 * rank * rank * side + 2.0 * rank * matrix),
          .bytes_moved = cost::kFloatBytes * edges *
                         (2.0 * rank * rank * side + matrix + rank * (step::extent::in() + step::extent::out())),
          .launches = edges * (6.0 * rank + 1.0)};
}

/// Work per edge: the difference of the products, p qᵀ, and adding it.
step::Work move_work(const step::Expression& rank, double edges) {
  const step::Expression matrix = step::extent::in() * step::extent::out();
  return {.flops = edges * 2.0 * rank * matrix,
          .bytes_moved = cost::kFloatBytes * edges * (2.0 * matrix + rank * (step::extent::in() + step::extent::out())),
          .launches = 2.0 * edges};
}

using MatrixMap = Eigen::Map<const models::Matrix>;

MatrixMap matrix_of(const models::Matrix& row, const models::WeightsOf<float>& shape) {
  return {row.data(), shape.out(), shape.in()};
}

/// PowerGossip (Vogels, Karimireddy, Jaggi, NeurIPS 2020, arXiv 2008.01425): the two ends of every edge do steps of
/// subspace iteration on the difference of their matrices, which neither knows. They move towards each other along the
/// directions found; see EdgeSubspace. The method needs neither tuning nor replicas.
///     X_i ← X_i − γ W_ij p qᵀ, X_j ← X_j + γ W_ij p qᵀ for every edge; then X_i ← X_i − η g_i, g_i at X_i before
/// Biases and parameters outside the matrices are averaged uncompressed, once a step. The first iteration's messages
/// overlap the passes; further ones of the same step follow them. In the first step all sites are equal, and nothing is
/// sent.
class PowerGossip final : public GossipAlgorithm {
 public:
  struct Options {
    std::int64_t rank = 1;
    std::int64_t iterations = 1;  ///< per step
    double gamma = 1;
    bool random_start = false;  ///< draws vectors in every iteration, instead of using those of the previous iteration
  };
  explicit PowerGossip(Options options) : options_(options) {}
  void run(OwnWeightsStep& step) override {
    if (step.number() == 0) {
      step.compute_gradients();
      step.apply_gradients();
      return;
    }
    const step::Expression rank =
        step::extent::matrix_rank(step.recorder().add_slot({static_cast<std::int32_t>(options_.rank)}));
    Field x = step.weights();
    Field moved;
    for (std::int64_t iteration = 0; iteration < options_.iterations; ++iteration) {
      const bool first = iteration == 0;
      // Odd iterations follow even ones, also along each edge of graphs that repeat after a period.
      const auto period = static_cast<std::int64_t>(step.topology().period());
      const std::int64_t turns = step.topology().varies() ? step.number() / period : 0;
      prepare(step, (step.number() - 1) * options_.iterations + iteration + turns);
      OwnWeightsStep::Sending sending = send(step, x, rank, first);
      if (first) {
        step.compute_gradients();
        moved = step.move_by_gradients();
      }
      receive(step, sending, x, rank, first);
    }
    add(x, moved);
    step.set_weights(x);
  }

 private:
  using Edge = std::pair<std::size_t, std::size_t>;  ///< sites of the edge, the lower number first
  using Subspace = gossip::EdgeSubspace<float>;
  /// Products of each site with the vectors of its edges, in the order of its neighbours: [matrix][site].
  using Products = std::vector<std::vector<std::vector<models::Matrix>>>;

  Subspace& subspace(std::size_t site, std::size_t neighbour, std::size_t matrix) {
    return edges_.at(std::minmax(site, neighbour))[matrix];
  }
  /// Draws vectors from a stream that both ends share: for edges without vectors, or for all edges with random_start.
  void prepare(const OwnWeightsStep& step, std::int64_t iteration) {
    ++drawn_;
    even_ = iteration % 2 == 0;
    const auto& to = step.round().graph->to;
    const std::size_t matrices = step.matrices();
    std::vector<std::pair<Edge, std::vector<Subspace>*>> present;
    for (std::size_t i = 0; i < to.size(); ++i) {
      for (const std::int32_t neighbour : to[i]) {
        const auto j = static_cast<std::size_t>(neighbour);
        if (i < j) present.emplace_back(Edge{i, j}, &edges_[{i, j}]);
      }
    }
    parallel_for(present.size(), [&](std::size_t e) {
      const auto& [edge, subspaces] = present[e];
      const auto number = static_cast<std::uint32_t>(edge.first * step.sites() + edge.second);
      const bool fresh = subspaces->empty();
      subspaces->resize(matrices);
      for (std::size_t m = 0; m < matrices; ++m) {
        const models::WeightsOf<float>& shape = step.network(0).layer(m);
        RandomStream shared(step.seed(), Purpose::gossip_start,
                            number * static_cast<std::uint32_t>(matrices) + static_cast<std::uint32_t>(m), drawn_);
        Subspace& own = (*subspaces)[m];
        if (fresh || options_.random_start) {
          own = gossip::start_subspace<float>(
              shape.out(), shape.in(), std::min({options_.rank, std::int64_t{shape.out()}, std::int64_t{shape.in()}}),
              shared);
        }
        own.iteration = iteration;  // equal for all edges, because messages of a step have one kind
        gossip::begin_iteration(own, shared);
      }
    });
  }
  OwnWeightsStep::Sending send(OwnWeightsStep& step, const Field& x, const step::Expression& rank, bool plain_too) {
    const auto& to = step.round().graph->to;
    products_.assign(step.matrices(), std::vector<std::vector<models::Matrix>>(step.sites()));
    biases_.assign(step.matrices(), std::vector<models::Matrix>(step.sites()));
    parallel_for(step.sites(), [&](std::size_t i) {
      for (std::size_t m = 0; m < step.matrices(); ++m) {
        const models::WeightsOf<float>& shape = step.network(i).layer(m);
        for (const std::int32_t j : to[i]) {
          products_[m][i].push_back(
              gossip::product_of_end<float>(subspace(i, static_cast<std::size_t>(j), m), matrix_of(x[m][i], shape)));
        }
        biases_[m][i] = x[m][i].rightCols(shape.bias.size());
      }
    });
    const step::Expression numbers = rank * (even_ ? step::extent::in() : step::extent::out());
    return step.send([&](std::size_t b) {
      NeighbourMessage message;
      if (!step.is_matrix(b)) {
        if (plain_too) {
          message.parts.push_back({step::extent::parameters(),
                                   [&x, b](std::size_t site, std::size_t) { return models::ConstBlock(x[b][site]); }});
        }
        return message;
      }
      step.recorder().add(step::ComputeOp{step::Phase::factorise,
                                          step::Role::workers,
                                          {products_work(rank, static_cast<double>(step.round().most_sent), even_)}});
      message.same_for_all = false;
      message.parts.push_back({numbers, [&, b](std::size_t site, std::size_t neighbour) {
                                 const auto at = std::ranges::find(to[site], static_cast<std::int32_t>(neighbour));
                                 return models::ConstBlock(
                                     products_[b][site][static_cast<std::size_t>(at - to[site].begin())]);
                               }});
      if (plain_too) {
        message.parts.push_back({beside_the_matrix(),
                                 [&, b](std::size_t site, std::size_t) { return models::ConstBlock(biases_[b][site]); },
                                 nullptr, true});
      }
      return message;
    });
  }
  void receive(OwnWeightsStep& step, OwnWeightsStep::Sending& sending, Field& x, const step::Expression& rank,
               bool plain_too) {
    const auto& weights = step.round().mixing.from;
    const auto edges = static_cast<double>(step.round().most_received);
    const auto at_matrix = [&](std::size_t m, const Arrivals& arrivals) {
      const auto from = [&](std::size_t site, std::size_t sender) -> const models::Matrix& {
        return std::ranges::find(arrivals[site], static_cast<std::int32_t>(sender), &Arrived::sender)->parts.front();
      };
      // Computes new vectors of each edge; both ends get the same ones.
      std::vector<Edge> present;
      for (std::size_t i = 0; i < step.sites(); ++i) {
        for (const Arrived& arrived : arrivals[i]) {
          if (static_cast<std::size_t>(arrived.sender) < i) present.emplace_back(arrived.sender, i);
        }
      }
      parallel_for(present.size(), [&](std::size_t e) {
        const auto& [small, big] = present[e];
        gossip::end_iteration(subspace(small, big, m), from(small, big), from(big, small));
      });
      parallel_for(step.sites(), [&](std::size_t i) {
        const models::WeightsOf<float>& shape = step.network(i).layer(m);
        Eigen::Map<models::Matrix> matrix(x[m][i].data(), shape.out(), shape.in());
        const models::Matrix bias = x[m][i].rightCols(shape.bias.size());
        for (std::size_t k = 0; k < arrivals[i].size(); ++k) {
          const auto j = static_cast<std::size_t>(arrivals[i][k].sender);
          const double part = options_.gamma * weights[i][k].second;
          gossip::move_along(subspace(i, j, m), i > j ? -part : part, matrix);
          if (plain_too) {
            x[m][i].rightCols(shape.bias.size()) +=
                static_cast<float>(weights[i][k].second) * (arrivals[i][k].parts.back() - bias);
          }
        }
      });
    };
    step.for_each_block([&](std::size_t b) {
      const Arrivals& arrivals = sending[b].wait();
      if (step.is_matrix(b)) {
        step.recorder().add(step::ComputeOp{step::Phase::merge, step::Role::workers, {move_work(rank, edges)}});
        at_matrix(b, arrivals);
      } else if (plain_too) {
        parallel_for(step.sites(), [&](std::size_t i) {
          const models::Matrix own = x[b][i];
          step.pull(x[b][i], own, i, arrivals[i]);
        });
      }
    });
  }

  Options options_;
  std::map<Edge, std::vector<Subspace>> edges_;
  Products products_;
  std::vector<std::vector<models::Matrix>> biases_;  ///< biases, [matrix][site]
  std::uint32_t drawn_ = 0;                          ///< iterations so far
  bool even_ = true;                                 ///< true: the current iteration is even
};

}  // namespace

SynchronousMethod power_gossip_method() {
  static constexpr spec::IntegerParameter kRank{"rank", 1, 65536, "1",
                                                "vectors per edge and matrix, at most its rows or columns"};
  static constexpr spec::IntegerParameter kIterations{"iterations", 1, 1000, "1",
                                                      "power iterations, and messages, per step"};
  static constexpr spec::RealParameter kGamma{
      "gamma", 0, 2, "1", "step along the vectors found; 1 needs no tuning (published runs on a ring of 8: 1.308)"};
  static constexpr auto kStart =
      spec::choice<bool>("start", {{"warm", false}, {"random", true}},
                         "warm: start from the vectors of the last iteration; random: draw new vectors");
  return {{.name = "power-gossip",
           .family = "decentralised",
           .parameters = with_graph(GraphNeeds::undirected, {kRank, kIterations, kGamma, kStart}),
           .sharing = Sharing::own_weights,
           .forgets = methods::kSendsWeights,
           .check =
               [](const RunFacts& facts) {
                 RunFaults faults = own_message_faults(facts, true);
                 return faults.empty() ? graph_faults(GraphNeeds::undirected, facts) : faults;
               },
           .lossless = {},
           // Counts the weights before the gradient, to which neighbours' messages refer, and the vectors of two edges,
           // as in a ring.
           .state =
               [](const spec::ParameterValues& values) {
                 return estimate::AlgorithmState{
                     step::extent::parameters() +
                         2.0 * step::extent::matrix_rank(0) * (step::extent::in() + step::extent::out()),
                     static_cast<std::int32_t>(kRank.of(values))};
               },
           .remark = graph_remark},
          [](const spec::RunSpec& run) {
            return std::make_unique<PowerGossip>(
                PowerGossip::Options{kRank.of(run.parameters), kIterations.of(run.parameters),
                                     kGamma.of(run.parameters), kStart.of(run.parameters)});
          }};
}

}  // namespace dadsim::algorithms
