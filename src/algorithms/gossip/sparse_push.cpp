#include "algorithms/gossip/sparse_push.hpp"

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <memory>

#include "algorithms/gossip/fields.hpp"
#include "algorithms/gossip/graph.hpp"
#include "algorithms/methods.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
SparsePush::SparsePush(Options options) : options_(options) {}

double SparsePush::default_gamma(double fraction, bool regular) {
  return std::min(1.0, std::max(2 * fraction, regular ? 0.31 * std::pow(fraction, 0.4) : 0.0));
}

void SparsePush::run(OwnWeightsStep& step) {
  if (options_.gamma == 0) options_.gamma = default_gamma(options_.fraction, step.topology().regular());
  if (x_.empty()) {
    x_ = step.weights();
    if (options_.form == Form::replicas) {
      w_.assign(step.sites(), models::Matrix::Ones(1, 1));
    } else if (!step.topology().regular() || step.sites_change()) {
      weights_ = step.zeros();
      for (auto& block : weights_) {
        for (models::Matrix& site : block) site.setOnes();
      }
    }
  }
  if (options_.form == Form::replicas) known_.begin(step, x_);
  step.compute_gradients();
  add(x_, step.move_by_gradients());
  if (options_.form == Form::replicas) {
    push_replicas(step);
  } else {
    push_shared(step);
  }
  if (options_.merge && step.is_last()) merge(step);
  step.set_weights(models_of(step));
}

/// Returns z = x / w.
Field SparsePush::models_of(OwnWeightsStep& step) const {
  return !weights_.empty() ? divided(step, x_, weights_) : !w_.empty() ? divided(step, x_, w_) : x_;
}

void SparsePush::push_replicas(OwnWeightsStep& step) {
  const bool dense = step.number() < options_.dense_steps;
  const double gamma = dense ? 1 : options_.gamma;
  const bool per_edge = known_.is_per_edge();
  const Field news = known_.news(step, x_);
  std::vector<std::vector<KeptEntries>> chosen;
  if (!dense) chosen = largest_news(step, news, options_.fraction, known_.sent(step));
  const std::vector<models::Matrix> w = w_;
  OwnWeightsStep::Sending sending = step.send([&](std::size_t b) {
    NeighbourMessage message{.parts = {}, .same_for_all = !per_edge};
    if (dense || !step.is_matrix(b)) {
      message.parts.push_back({step::extent::parameters(), [&, b](std::size_t site, std::size_t to) {
                                 return models::ConstBlock(news[b][known_.place(site, to)]);
                               }});
    } else {
      const step::Expression kept = kept_of_block(options_.fraction);
      message.parts.push_back({kept, [&, b](std::size_t site, std::size_t to) {
                                 return models::ConstBlock(chosen[b][known_.place(site, to)].values);
                               }});
      message.parts.push_back({kept, nullptr, [&, b](std::size_t site, std::size_t to) {
                                 return std::span<const std::int32_t>(chosen[b][known_.place(site, to)].indices);
                               }});
    }
    if (step.carries_scalars(b)) {
      message.parts.push_back({1.0, [&](std::size_t site, std::size_t) { return models::ConstBlock(w[site]); }, nullptr,
                               true, step::extent::last_matrix()});
    }
    return message;
  });

  // Keeps Σ_j p_ij x̂_j at each receiver, to which arriving messages are added.
  const auto neighbours = static_cast<double>(step.round().most_received);
  const OwnWeightsStep::Passes passes{
      .flops = 4 + neighbours, .floats = 5 + 2 * neighbours, .launches = 2 + neighbours};
  const std::vector<double>& shares = step.round().shares;
  const auto& to = step.round().graph->to;
  const auto add_arrived = [](const Arrived& arrived, models::Matrix& known) {
    if (arrived.whole.empty()) {
      known += arrived.parts.front();
    } else {
      add_kept(arrived.parts.front(), arrived.whole.front(), known);
    }
  };
  step.receive_all(sending, passes, [&](std::size_t b, const Arrivals& arrivals) {
    parallel_for(step.sites(), [&](std::size_t i) {
      if (per_edge) {
        for (const Arrived& arrived : arrivals[i]) {
          add_arrived(arrived, known_.at(b, static_cast<std::size_t>(arrived.sender), i));
        }
      } else if (const Arrived* arrived = step.delivered(i, arrivals)) {
        add_arrived(*arrived, known_.of(b, i));
      } else {
        known_.of(b, i) = x_[b][i];
      }
    });
    parallel_for(step.sites(), [&](std::size_t i) {
      const double given = shares[i] * static_cast<double>(to[i].size());
      std::vector<gossip::Weighed<float>> others, of_w;
      for (const Arrived& arrived : arrivals[i]) {
        const auto j = static_cast<std::size_t>(arrived.sender);
        others.push_back({shares[j], &known_.at(b, j, i)});
        if (step.carries_scalars(b)) of_w.push_back({shares[j], &arrived.parts.back()});
      }
      if (per_edge) {
        for (const std::int32_t receiver : to[i]) {
          others.push_back({-shares[i], &known_.at(b, i, static_cast<std::size_t>(receiver))});
        }
        gossip::push(x_[b][i], models::Matrix(models::Matrix::Zero(1, x_[b][i].cols())), 0, others, gamma);
      } else {
        gossip::push(x_[b][i], known_.of(b, i), given, others, gamma);
      }
      if (step.carries_scalars(b)) gossip::push(w_[i], w[i], given, of_w, gamma);
    });
  });
}

/// Pushes the same run of coordinates of a block at all sites, from a random start; the run wraps around at the block's
/// end.
void SparsePush::push_shared(OwnWeightsStep& step) {
  const bool dense = step.number() < options_.dense_steps;
  const bool weighs = !weights_.empty();
  const std::size_t blocks = step.blocks();
  std::vector<std::vector<Eigen::Index>> coordinates(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    const Eigen::Index size = step.size(b);
    const bool all = dense || !step.is_matrix(b) || size == 0;
    RandomStream random(step.seed(), Purpose::coordinates, static_cast<std::uint32_t>(b),
                        static_cast<std::uint32_t>(step.number()));
    const Eigen::Index first = all ? 0 : boost::random::uniform_int_distribution<Eigen::Index>(0, size - 1)(random);
    const Eigen::Index count = all ? size : kept_of_block(options_.fraction, size);
    for (Eigen::Index k = 0; k < count; ++k) coordinates[b].push_back((first + k) % size);
  }
  const std::vector<double>& shares = step.round().shares;
  // p x of these coordinates, followed by p w.
  Field shared(blocks, std::vector<models::Matrix>(step.sites())), shared_w = shared;
  parallel_for(step.sites(), [&](std::size_t i) {
    const auto share = static_cast<float>(shares[i]);
    for (std::size_t b = 0; b < blocks; ++b) {
      shared[b][i] = share * x_[b][i](Eigen::all, coordinates[b]);
      if (weighs) shared_w[b][i] = share * weights_[b][i](Eigen::all, coordinates[b]);
    }
  });
  OwnWeightsStep::Sending sending = step.send([&](std::size_t b) {
    const step::Expression count =
        dense || !step.is_matrix(b) ? step::extent::parameters() : kept_of_block(options_.fraction);
    NeighbourMessage message;
    message.parts.push_back(
        {count, [&, b](std::size_t site, std::size_t) { return models::ConstBlock(shared[b][site]); }});
    if (weighs) {
      message.parts.push_back({count,
                               [&, b](std::size_t site, std::size_t) { return models::ConstBlock(shared_w[b][site]); },
                               nullptr, true});
    }
    return message;
  });
  const double part = dense ? 1 : options_.fraction;
  const double neighbours = part * static_cast<double>(step.round().most_received) * (weighs ? 2 : 1);
  const OwnWeightsStep::Passes passes{
      .flops = neighbours + part, .floats = neighbours + 3 * part, .launches = neighbours / part + 1};
  step.receive(sending, passes, [&](std::size_t b, std::size_t i, const std::vector<Arrived>& arrived) {
    models::Matrix sum = shared[b][i];
    models::Matrix sum_w = shared_w[b][i];
    for (const Arrived& one : arrived) {
      sum += one.parts[0];
      if (weighs) sum_w += one.parts[1];
    }
    x_[b][i](Eigen::all, coordinates[b]) = sum;
    if (weighs) weights_[b][i](Eigen::all, coordinates[b]) = sum_w;
  });
}

void SparsePush::merge(OwnWeightsStep& step) {
  // Omits w from messages if Σ_i w_i = n for every coordinate, because all sites are present.
  Field models = step.everyone_is_there() ? x_ : models_of(step);
  step.average(models);
  for (std::size_t i = 0; i < step.sites(); ++i) {
    if (!step.is_there(i)) continue;
    for (std::size_t b = 0; b < step.blocks(); ++b) {
      x_[b][i] = models[b][i];
      if (!weights_.empty()) weights_[b][i].setOnes();
    }
    if (!w_.empty()) w_[i].setOnes();
  }
  if (step.everyone_is_there() && !w_.empty()) known_.reset(x_);
}

namespace {

constexpr auto kForm = spec::choice<SparsePush::Form>(
    "form", {{"replicas", SparsePush::Form::replicas}, {"shared-mask", SparsePush::Form::shared_mask}},
    "replicas: send the largest entries that neighbours do not have yet; shared-mask: send the same range of entries "
    "at every site, for graphs that vary");
constexpr spec::RealParameter kPushedFraction{
    "fraction", 1e-6, 1, "0.01", "share of entries that a site sends of every matrix and its biases, rounded up"};
constexpr spec::RealParameter kPushGamma{"gamma", 0, 1, "0",
                                         "replicas: step size of the averaging; 0: twice the fraction, or 0.31 "
                                         "fraction^0.4 if larger and all sites have equal degrees"};
constexpr spec::IntegerParameter kDenseSteps{"dense-steps", 0, 1e9, "0", "first steps, in which all entries are sent"};
constexpr auto kMerge = spec::choice<bool>("merge", {{"end", true}, {"never", false}},
                                           "end: the last step of the budget ends with an average over all sites");
RunFaults sparse_push_faults(const RunFacts& facts) {
  const spec::ParameterValues& values = facts.run.parameters;
  if (kForm.of(values) == SparsePush::Form::replicas) {
    if (RunFaults faults = own_message_faults(facts, false); !faults.empty()) return faults;
  }
  const std::string& graph = kGraph.of(values);
  if (kForm.of(values) == SparsePush::Form::replicas && (graph == "one-peer-exponential" || graph == "matchings")) {
    return {Fault{"form=\"replicas\" needs a fixed graph, but graph '" + graph + "' changes from step to step",
                  "set form=\"shared-mask\", or a fixed graph, e.g. graph=\"ring\""}};
  }
  if (kForm.of(values) == SparsePush::Form::shared_mask && kPushGamma.of(values) != 0) {
    return {Fault{"gamma needs form=\"replicas\"", "remove it"}};
  }
  return graph_faults(GraphNeeds::nothing, facts, kMerge.of(values));
}

}  // namespace

SynchronousMethod sparse_push_method() {
  return {{.name = "sparse-push",
           .family = "decentralised",
           .parameters = with_graph(GraphNeeds::nothing, {kForm, kPushedFraction, kPushGamma, kDenseSteps, kMerge},
                                    "exponential"),
           .sharing = Sharing::own_weights,
           .forgets = methods::kSendsWeights,
           .check = sparse_push_faults,
           .lossless = {{"fraction", "1"}, {"gamma", "1"}},
           // Counts x, in addition to the model z. Replicas also keep the site's x̂ and the sum of its senders' x̂; a
           // shared mask keeps the weight of each coordinate.
           .state =
               [](const spec::ParameterValues& values) {
                 const double kept = kForm.of(values) == SparsePush::Form::replicas ? 3.0 : 2.0;
                 return estimate::AlgorithmState{kept * step::extent::parameters()};
               },
           .state_with_absence =
               [](const RunFacts& facts) {
                 const bool replicas = kForm.of(facts.run.parameters) == SparsePush::Form::replicas;
                 const double kept = replicas ? 1 + copies_per_edge(facts) : 2.0;
                 return estimate::AlgorithmState{kept * step::extent::parameters()};
               },
           .remark = graph_remark},
          [](const spec::RunSpec& run) {
            return std::make_unique<SparsePush>(SparsePush::Options{.form = kForm.of(run.parameters),
                                                                    .fraction = kPushedFraction.of(run.parameters),
                                                                    .gamma = kPushGamma.of(run.parameters),
                                                                    .dense_steps = kDenseSteps.of(run.parameters),
                                                                    .merge = kMerge.of(run.parameters)});
          }};
}

}  // namespace dadsim::algorithms
