#include "algorithms/forward/forward_gradient.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/forward/perturbation.hpp"
#include "algorithms/methods.hpp"
#include "methods/idle_parameters.hpp"
#include "models/gemm/product.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

LocalHeads::LocalHeads(const models::Network& network, std::vector<LayerBlock> blocks, std::uint64_t seed)
    : classes_(network.output_shape().channels) {
  if (blocks.empty()) return;
  blocks.pop_back();  // the head of the last block is the output layer
  for (const LayerBlock& block : blocks) {
    LocalHead head{block, network.value_shape(block.to).channels, nullptr, nullptr, {}};
    const spec::ModelSpec linear{"", {spec::DenseSpec{classes_, spec::Activation::identity, true}}};
    // Gives heads of the same shape different initial weights.
    head.network =
        std::make_unique<models::Network>(head.channels, linear, seed + 0x9e3779b97f4a7c15U * (heads_.size() + 1));
    heads_.push_back(std::move(head));
  }
}

step::Work LocalHeads::product_work() const {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  return {.flops = 2.0 * rows() * out() * classes_in_step_,
          .bytes_moved = cost::kFloatBytes * (rows() * (out() + classes_in_step_) + out() * classes_in_step_),
          .launches = 1.0};
}

models::Matrix LocalHeads::mean_over_positions(std::size_t head, const models::Matrix& value) const {
  const Eigen::Index channels = heads_[head].channels;
  const Eigen::Index positions = value.cols() / channels;
  if (positions == 1) return value;
  models::Matrix mean(value.rows(), channels);
  for (Eigen::Index sample = 0; sample < value.rows(); ++sample) {
    mean.row(sample) = models::RowsOf<float>(value.row(sample).data(), positions, channels).colwise().mean();
  }
  return mean;
}

void LocalHeads::forward(TrainingStep& step) {
  if (heads_.empty()) return;
  classes_in_step_ = step::extent::slot(step.recorder().add_slot({static_cast<std::int32_t>(classes_)}));
  step.recorder().begin_sweep(step::Over::layers_forward);
  for (std::size_t l = 0; l < step.layers(); ++l) {
    step.recorder().begin_group(static_cast<std::int32_t>(l));
    for (LocalHead& head : heads_) {
      if (head.block.end != l + 1) continue;
      step.charge(step::Phase::forward, step::Role::workers, {product_work()});
      const step::Expression logits = step::extent::rows() * classes_in_step_;
      step.charge(step::Phase::loss, step::Role::workers,
                  {{.flops = 5.0 * logits, .bytes_moved = 4.0 * cost::kFloatBytes * logits, .launches = 3.0}});
      const std::size_t number = static_cast<std::size_t>(&head - heads_.data());
      head.network->forward(mean_over_positions(number, step.tape().values[head.block.to]), {}, head.tape);
      step.loss_of(*head.network, head.tape);
    }
  }
}

Pending<models::Matrix> LocalHeads::sum(TrainingStep& step, std::size_t head) {
  const Eigen::Index in = heads_[head].channels;
  models::Matrix gradient(classes_, in + 1);
  step.charge(step::Phase::weight_gradient, step::Role::workers, {product_work()});
  models::multiply_by_rows<float>(delta(head), inputs(head), gradient.leftCols(in));
  gradient.col(in) = delta(head).colwise().sum();
  return step.exchange().sum_as_it_is(parameters(), std::move(gradient));
}

void LocalHeads::learn(TrainingStep& step, std::size_t head, const models::Matrix& gradient) {
  const spec::OptimizerSpec& spec = step.update_rule().optimizer;
  LocalHead& own = heads_[head];
  if (own.optimizer == nullptr) own.optimizer = models::make_optimizer(spec, *own.network);
  step.charge(step::Phase::update, step::Role::workers,
              {{.flops = models::update_flops_per_parameter(spec) * parameters(),  // Muon updates heads with Adam
                .bytes_moved = cost::kFloatBytes * models::update_floats_per_parameter(spec) * parameters(),
                .launches = 1.0}});
  const models::Gradient whole{{{gradient.leftCols(own.channels), gradient.col(own.channels)}}, {}};
  own.optimizer->update(*own.network, whole, step.update_rule().rate);
}

namespace {

models::MutableRowsOf<float> all_rows_of(models::Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols()};
}

/// Adds share · c ⊙ u to `sum`, with one c for each sample and group of columns.
void add_scaled(const models::Matrix& c, const models::Matrix& u, float share, models::Matrix& sum) {
  const Eigen::Index per_sample = u.rows() / c.rows();
  const Eigen::Index width = u.cols() / c.cols();
  for (Eigen::Index row = 0; row < u.rows(); ++row) {
    for (Eigen::Index g = 0; g < c.cols(); ++g) {
      sum.row(row).segment(g * width, width) += share * c(row / per_sample, g) * u.row(row).segment(g * width, width);
    }
  }
}

}  // namespace

std::size_t ForwardGradient::block_of(std::size_t l) const {
  std::size_t b = 0;
  while (b + 1 < blocks_.size() && blocks_[b].end <= l) ++b;
  return b;
}

void ForwardGradient::run(TrainingStep& step) {
  if (heads_ == nullptr) {
    blocks_ = blocks_of(step.network(), options_.local ? options_.blocks : 1);
    heads_ = std::make_unique<LocalHeads>(step.network(), blocks_, step.seed());
  }
  step.forward();
  heads_->forward(step);
  charge_differentiation(step);
  step.skip_non_matrix_parameters();
  if (options_.perturb == Perturb::activity) {
    perturb_activities(step);
  } else {
    perturb_weights(step);
  }
}

void ForwardGradient::charge_differentiation(TrainingStep& step) const {
  const auto times = static_cast<double>(options_.directions);
  const auto groups = static_cast<double>(options_.groups);
  const auto charge = [&](const step::Work& work, bool every_layer = false) {
    step.charge(step::Phase::forward, step::Role::workers, {repeated(work, times)}, false, every_layer);
  };
  step.recorder().begin_sweep(step::Over::layers_forward);
  for (std::size_t l = 0; l < step.layers(); ++l) {
    step.recorder().begin_group(static_cast<std::int32_t>(l));
    const LayerBlock& block = blocks_[block_of(l)];
    const bool output = is_output(step, l);
    const bool nothing_comes_in = output ? block.first == block.end : l == block.first;
    charge(nothing_comes_in ? entry_tangent_work() : tangent_work(output ? 1.0 : groups), true);
    if (options_.perturb == Perturb::weight && (!output || options_.compact)) {
      charge(draw_work(step::extent::parameters()));
      charge(moved_weights_work());
    } else if (!output) {
      charge(draw_work(step::extent::rows() * step::extent::out()));
    }
    if (block.end == l + 1 && !output && block_of(l) < heads_->count()) {
      charge(heads_->product_work());
      if (options_.perturb == Perturb::weight && options_.compact) {
        charge(draw_work(heads_->parameters()));
        charge(heads_->product_work());
      }
    }
  }
  step.at_last_layer([&] {
    const step::Expression logits = step::extent::rows() * step::extent::out();
    charge({.flops = 2.0 * logits, .bytes_moved = 2.0 * cost::kFloatBytes * logits, .launches = 1.0});
  });
}

ForwardGradient::Derivatives ForwardGradient::differentiate(TrainingStep& step,
                                                            const models::DirectionOf<float>& direction,
                                                            bool output) const {
  Derivatives derivatives;
  std::vector<models::Matrix> tangents;
  const std::size_t top = step.layers() - 1;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    step.network().differentiate(blocks_[b].from, blocks_[b].to, direction, step.tape(), tangents);
    const bool last = b + 1 == blocks_.size();
    const models::Matrix& moved = tangents[blocks_[b].to];
    const models::Matrix features = last || moved.size() == 0 ? moved : heads_->mean_over_positions(b, moved);
    const models::WeightsOf<float>& weights = last ? step.weights(top) : heads_->weights(b);
    const models::RowsOf<float> deltas = last ? step.deltas(top) : models::as_rows(heads_->delta(b), weights.out());
    const models::RowsOf<float> inputs = last ? step.inputs(top) : models::as_rows(heads_->inputs(b), weights.in());
    const Eigen::Index samples = step.tape().values.front().rows();
    const Eigen::Index per_sample = deltas.rows() / samples;
    const Eigen::Index width = weights.in() / options_.groups;
    models::Matrix c = models::Matrix::Zero(samples, options_.groups);
    for (Eigen::Index g = 0; g < options_.groups; ++g) {
      models::Matrix logits = models::Matrix::Zero(deltas.rows(), deltas.cols());
      if (features.size() > 0) {
        models::multiply_transposed<float>(models::as_rows(features, weights.in()).middleCols(g * width, width),
                                           weights.weight.middleCols(g * width, width), models::Vector(), logits);
      }
      models::MutableRowsOf<float> all = all_rows_of(logits);
      if (output && g == 0) direction.add(last ? top : top + 1 + b, inputs, all);
      for (Eigen::Index row = 0; row < deltas.rows(); ++row) {
        c(row / per_sample, g) += deltas.row(row).dot(logits.row(row));
      }
    }
    derivatives.push_back(std::move(c));
  }
  return derivatives;
}

void ForwardGradient::perturb_activities(TrainingStep& step) {
  std::vector<std::uint64_t> seeds;
  for (std::size_t site = 0; site < step.sites(); ++site) seeds.push_back(seed_of_site(step, site));
  const std::size_t hidden = step.layers() - 1;
  std::vector<models::Matrix> estimates(hidden);  // Δ̂
  for (std::int64_t k = 0; k < options_.directions; ++k) {
    std::vector<models::Matrix> u(hidden);
    models::DirectionOf<float> direction;
    direction.groups = options_.groups;
    direction.add = [&](std::size_t l, const models::RowsOf<float>&, models::MutableRowsOf<float>& tangent) {
      u[l] = draw_activities(step, seeds, l, k, tangent.rows(), tangent.cols());
      tangent += u[l];
    };
    const Derivatives c = differentiate(step, direction, false);
    for (std::size_t l = 0; l < hidden; ++l) {
      if (step.network().gates(l)) {
        const models::RowsOf<float> y =
            models::as_rows(step.tape().values[step.network().value_behind(l)], u[l].cols());
        u[l] = (y.array() > 0.0F).select(u[l], 0.0F);
      }
      if (k == 0) estimates[l].setZero(u[l].rows(), u[l].cols());
      add_scaled(c[block_of(l)], u[l], 1.0F / static_cast<float>(options_.directions), estimates[l]);
    }
  }
  step.backward([&](std::size_t l) {
    if (is_output(step, l)) return;
    const step::Expression entries =
        static_cast<double>(options_.directions) * step::extent::rows() * step::extent::out();
    step.charge(step::Phase::weight_gradient, step::Role::workers,
                {{.flops = 2.0 * entries, .bytes_moved = 2.0 * cost::kFloatBytes * entries, .launches = 1.0}});
    step.set_delta(l, estimates[l]);
  });
  if (options_.compact) {
    share_factors(step);
  } else {
    share_gradients(step, [&](std::size_t l) { return step.site_gradients(l); });
  }
}

void ForwardGradient::add_directions(const std::uint64_t seed, std::size_t matrix, std::size_t block, bool output,
                                     models::ConstBlock scalars, models::LayerGradient& sum) const {
  const auto blocks = static_cast<Eigen::Index>(blocks_.size());
  const Eigen::Index groups = output ? 1 : options_.groups;
  const Eigen::Index width = sum.weight.rows() / groups;
  for (std::int64_t k = 0; k < options_.directions; ++k) {
    const auto own = scalars.middleCols((k * blocks + static_cast<Eigen::Index>(block)) * options_.groups, groups);
    if (own.isZero(0)) continue;
    const models::LayerGradient v =
        draw_weights(seed, matrix, k, sum.weight.rows(), sum.weight.cols(), sum.bias.size() > 0);
    for (Eigen::Index g = 0; g < groups; ++g) {
      const float factor = own(0, g) / static_cast<float>(options_.directions);
      sum.weight.middleRows(g * width, width) += factor * v.weight.middleRows(g * width, width);
      if (v.bias.size() > 0) sum.bias.segment(g * width, width) += factor * v.bias.segment(g * width, width);
    }
  }
}

void ForwardGradient::perturb_weights(TrainingStep& step) {
  std::vector<std::uint64_t> seeds;
  for (std::size_t site = 0; site < step.sites(); ++site) seeds.push_back(seed_of_site(step, site));
  const auto blocks = static_cast<Eigen::Index>(blocks_.size());
  models::Matrix scalars(static_cast<Eigen::Index>(step.sites()), options_.directions * blocks * options_.groups);
  for (std::int64_t k = 0; k < options_.directions; ++k) {
    models::DirectionOf<float> direction;
    direction.groups = options_.groups;
    direction.add = [&](std::size_t l, const models::RowsOf<float>& rows, models::MutableRowsOf<float>& tangent) {
      const std::vector<Eigen::Index> first = first_rows(step, rows.rows());
      const bool bias = l >= step.layers() || step.weights(l).has_bias();
      for (std::size_t site = 0; site < step.sites(); ++site) {
        const Eigen::Index count = first[site + 1] - first[site];
        if (count == 0) continue;
        const models::LayerGradient v = draw_weights(seeds[site], l, k, tangent.cols(), rows.cols(), bias);
        models::Matrix moved(count, tangent.cols());
        models::multiply_transposed<float>(rows.middleRows(first[site], count), v.weight, v.bias, moved);
        tangent.middleRows(first[site], count) += moved;
      }
    };
    const Derivatives c = differentiate(step, direction, options_.compact);
    const std::vector<Eigen::Index> first = first_rows(step, c.front().rows());
    for (std::size_t site = 0; site < step.sites(); ++site) {
      for (Eigen::Index b = 0; b < blocks; ++b) {
        scalars.row(static_cast<Eigen::Index>(site)).segment((k * blocks + b) * options_.groups, options_.groups) =
            c[static_cast<std::size_t>(b)].middleRows(first[site], first[site + 1] - first[site]).colwise().sum();
      }
    }
  }
  if (options_.compact) {
    share_seeds(step, seeds, scalars);
    return;
  }
  share_gradients(step, [&](std::size_t l) -> TrainingStep::GradientOfSite {
    if (is_output(step, l)) return step.site_gradients(l);
    charge_directions(step, step::extent::parameters(), 1);
    return [this, l, &seeds, &scalars](std::size_t site, models::LayerGradient& sum) {
      add_directions(seeds[site], l, block_of(l), false, scalars.row(static_cast<Eigen::Index>(site)), sum);
    };
  });
}

void ForwardGradient::charge_directions(TrainingStep& step, const step::Expression& parameters, double sites) const {
  const double times = sites * static_cast<double>(options_.directions);
  const step::Work draw = repeated(draw_work(parameters), times);
  step.charge(step::Phase::weight_gradient, step::Role::workers,
              {{.flops = draw.flops + 2.0 * times * parameters,
                .bytes_moved = draw.bytes_moved + 3.0 * cost::kFloatBytes * times * parameters,
                .launches = draw.launches + times}});
}

void ForwardGradient::share_gradients(TrainingStep& step,
                                      const std::function<TrainingStep::GradientOfSite(std::size_t l)>& of) {
  std::vector<Pending<models::LayerGradient>> sums(step.layers());
  std::vector<Pending<models::Matrix>> of_heads(heads_->count());
  step.backward([&](std::size_t l) {
    sums[l] = step.exchange().sum(of(l));
    heads_behind(l, [&](std::size_t head) { of_heads[head] = heads_->sum(step, head); });
  });
  step.backward([&](std::size_t l) {
    step.gradient(l) = std::move(sums[l].wait());
    heads_behind(l, [&](std::size_t head) { heads_->learn(step, head, of_heads[head].wait()); });
  });
}

void ForwardGradient::share_factors(TrainingStep& step) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  std::vector<Pending<Rows>> factors(step.layers());
  std::vector<Pending<models::Matrix>> of_heads(heads_->count());
  step.backward([&](std::size_t l) {
    const Contribution own{rows(),
                           {{out(), [&step, l](std::size_t s) { return step.delta(s, l); }},
                            {in(), [&step, l](std::size_t s) { return step.input(s, l); }}}};
    factors[l] = step.exchange().combine(own, concatenation());
    heads_behind(l, [&](std::size_t head) { of_heads[head] = heads_->sum(step, head); });
  });
  step.backward([&](std::size_t l) {
    const Rows& all = factors[l].wait();
    step.form_gradient_of_rows(l, all[0], all[1]);
    heads_behind(l, [&](std::size_t head) { heads_->learn(step, head, of_heads[head].wait()); });
  });
}

void ForwardGradient::share_seeds(TrainingStep& step, const std::vector<std::uint64_t>& seeds,
                                  const models::Matrix& scalars) {
  std::vector<std::vector<std::int32_t>> words;
  for (const std::uint64_t seed : seeds) words.push_back({words_of(seed).low, words_of(seed).high});
  Rows all;
  step.at_last_layer([&] {
    const Contribution::Part seed{2.0, nullptr, [&](std::size_t s) { return std::span<const std::int32_t>(words[s]); }};
    const Contribution::Part derivatives{static_cast<double>(scalars.cols()), [&](std::size_t s) {
                                           return models::ConstBlock(scalars.row(static_cast<Eigen::Index>(s)));
                                         }};
    all = step.exchange().combine({1.0, {seed, derivatives}}, concatenation()).wait();
  });
  const auto sites = static_cast<Eigen::Index>(step.sites());
  const auto sum_directions = [&](std::size_t matrix, std::size_t block, bool output, models::LayerGradient& sum) {
    for (Eigen::Index site = 0; site < sites; ++site) {
      const auto at = 2 * static_cast<std::size_t>(site);
      add_directions(seed_of({all.whole[0][at], all.whole[0][at + 1]}), matrix, block, output, all[0].row(site), sum);
    }
  };
  step.backward([&](std::size_t l) {
    charge_directions(step, step::extent::parameters(), static_cast<double>(sites));
    const models::WeightsOf<float>& weights = step.weights(l);
    step.gradient(l) = {models::Matrix::Zero(weights.out(), weights.in()), models::Vector::Zero(weights.bias.size())};
    sum_directions(l, is_output(step, l) ? blocks_.size() - 1 : block_of(l), is_output(step, l), step.gradient(l));
    heads_behind(l, [&](std::size_t head) {
      charge_directions(step, heads_->parameters(), static_cast<double>(sites));
      const models::WeightsOf<float>& own = heads_->weights(head);
      models::LayerGradient sum{models::Matrix::Zero(own.out(), own.in()), models::Vector::Zero(own.bias.size())};
      sum_directions(step.layers() + head, head, true, sum);
      models::Matrix gradient(own.out(), own.in() + 1);
      gradient << sum.weight, sum.bias;
      heads_->learn(step, head, gradient);
    });
  });
}

void ForwardGradient::heads_behind(std::size_t l, const std::function<void(std::size_t head)>& body) const {
  for (std::size_t head = 0; head < heads_->count(); ++head) {
    if (blocks_[head].end == l + 1) body(head);
  }
}

namespace {

constexpr auto kPerturb = spec::choice<ForwardGradient::Perturb>(
    "perturb", {{"activity", ForwardGradient::Perturb::activity}, {"weight", ForwardGradient::Perturb::weight}},
    "activity: perturb pre-activations, in one random direction per sample (FG-A); weight: perturb weights, in one "
    "random direction per site (FG-W)");
constexpr auto kLoss = spec::choice<bool>("loss", {{"global", false}, {"local", true}},
                                          "global: one loss of the network; local: every block has a linear classifier "
                                          "at its end, and learns from its own loss");
constexpr spec::IntegerParameter kBlocks{
    "blocks", 0, 1e6, "0",
    "local losses: number of blocks, each with its own loss; 0: every hidden matrix or residual layer is a block"};
constexpr spec::IntegerParameter kGroups{
    "groups", 1, 65536, "1",
    "local losses: groups of channels; each group has a copy of its block's loss and its own derivative"};
constexpr spec::IntegerParameter kDirections{"directions", 1, 10000, "1",
                                             "random directions per step, whose estimates are averaged"};
constexpr auto kShare =
    spec::choice<bool>("share", {{"gradients", false}, {"ingredients", true}},
                       "gradients: send summed gradients; ingredients: send the factors x and c u of every sample "
                       "(perturb=\"weight\": a seed and scalars), and let each site compute the gradient");

ForwardGradient::Options forward_options(const spec::ParameterValues& values) {
  return {.perturb = kPerturb.of(values),
          .local = kLoss.of(values),
          .blocks = kBlocks.of(values),
          .groups = kGroups.of(values),
          .directions = kDirections.of(values),
          .compact = kShare.of(values)};
}

}  // namespace

SynchronousMethod forward_gradient_method() {
  return {{.name = "forward-gradient",
           .family = "backward-free",
           .parameters = {kPerturb, kLoss, kBlocks, kGroups, kDirections, kShare},
           .check = [](const RunFacts& facts) -> RunFaults {
             RunFaults faults = methods::faults_of_idle_parameters(facts.run.parameters, {{kBlocks, kLoss, {"local"}}});
             if (facts.model == nullptr) return faults;
             const ForwardGradient::Options options = forward_options(facts.run.parameters);
             const std::optional<Fault> fault =
                 differentiation_fault(*facts.model, facts.sample, options.local, options.blocks, options.groups);
             if (fault)
               faults.push_back(Fault{fmt::format("'{}': {}", facts.run.algorithm, fault->what), fault->remedy});
             return faults;
           },
           .estimates = true,
           // Counts the estimates of Δ; with shared factors, those of all sites.
           .state =
               [](const spec::ParameterValues& values) {
                 const ForwardGradient::Options options = forward_options(values);
                 if (options.perturb == ForwardGradient::Perturb::weight) return estimate::AlgorithmState{};
                 return estimate::AlgorithmState{options.compact ? step::extent::all_rows() *
                                                                       (step::extent::in() + step::extent::out())
                                                                 : step::extent::rows() * step::extent::out()};
               },
           .remark = [](const RunFacts& facts) -> std::string {
             const std::optional<models::Network> network = network_of(facts);
             if (!network || network->parameters().vectors.empty()) return "";
             return "forward-gradient does not train gains and shifts of norms; the norms of its paper have no gains "
                    "and shifts";
           }},
          [](const spec::RunSpec& run) { return std::make_unique<ForwardGradient>(forward_options(run.parameters)); }};
}

}  // namespace dadsim::algorithms
