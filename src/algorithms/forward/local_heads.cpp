#include "algorithms/forward/local_heads.hpp"

#include <utility>

#include "algorithms/cost.hpp"
#include "models/gemm/product.hpp"

namespace dadsim::algorithms {
LocalHeads::LocalHeads(const models::Network& network, std::vector<Block> blocks, std::uint64_t seed)
    : classes_(network.output_shape().channels) {
  if (blocks.empty()) return;
  blocks.pop_back();  // its head is the output layer
  for (const Block& block : blocks) {
    Head head{block, network.value_shape(block.to).channels, nullptr, nullptr, {}};
    const spec::ModelSpec linear{"", {spec::DenseSpec{classes_, spec::Activation::identity, true}}};
    // Initial weights of heads of the same shape differ.
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
    for (Head& head : heads_) {
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
  Head& own = heads_[head];
  if (own.optimizer == nullptr) own.optimizer = models::make_optimizer(spec, *own.network);
  step.charge(step::Phase::update, step::Role::workers,
              {{.flops = models::update_flops_per_parameter(spec) * parameters(),
                .bytes_moved = cost::kFloatBytes * models::update_floats_per_parameter(spec) * parameters(),
                .launches = 1.0}});
  const models::Gradient whole{{{gradient.leftCols(own.channels), gradient.col(own.channels)}}, {}};
  own.optimizer->update(*own.network, whole, step.update_rule().rate);
}

}  // namespace dadsim::algorithms
