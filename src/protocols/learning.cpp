#include "protocols/learning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "algorithms/batches.hpp"
#include "algorithms/exact/local_gradient.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/private/dp_sgd.hpp"
#include "compress/registry.hpp"
#include "protocols/learned_operation.hpp"
#include "protocols/workspace.hpp"
#include "support/random.hpp"

namespace dadsim::protocols {

using world::Datum;
using world::History;
using world::Value;

Learning::Workspace::Workspace(const algorithms::LearningProblem& problem)
    : samples_(problem.data.train),
      network_(problem.data.shape, problem.model, problem.seed),
      step_(network_, spec::ExchangeMode::peer, problem) {}

const models::Gradient& Learning::Workspace::gradient(std::int64_t step_number,
                                                      const std::vector<std::int32_t>& samples) {
  step_.begin(step_number, samples_, {samples});
  step_.set_sharing(false);
  algorithms::LocalGradient().run(step_);
  step_.finish();
  step_.recorder().take();
  return step_.gradient();
}

const models::Gradient& Learning::Workspace::gradient_per_sample(std::int64_t step_number,
                                                                 const std::vector<std::int32_t>& samples, double batch,
                                                                 const LocalTraining::PerSample& how) {
  step_.begin(step_number, samples_, {samples});
  step_.set_sharing(false);
  algorithms::DpSgd algorithm(
      {.clip = how.clip, .noise_multiplier = how.noise_multiplier, .noise = algorithms::NoiseBy::each_site});
  algorithm.prepare({.sites = 1, .batch = batch, .sampled = true, .rows = {batch}});
  algorithm.run(step_);
  step_.finish();
  step_.recorder().take();
  return step_.gradient();
}

Pool<Learning::Workspace>::Borrowed Learning::borrow() {
  return workspaces_.borrow([this] { return std::make_unique<Workspace>(problem_); });
}

Learning::Learning(const algorithms::LearningProblem& problem, History& history)
    : problem_(problem), history_(history) {
  const auto workspace = borrow();
  models::Network& network = workspace->network();
  parameters_ = models::flat_size(network);
  state_ = models::flat_state(network).size();
  std::size_t rest = parameters_;
  for (const auto& matrix : network.parameters().matrices) {
    pieces_.push_back(static_cast<std::size_t>(matrix.weight.size() + matrix.bias.size()));
    shapes_.emplace_back(matrix.weight.rows(), matrix.weight.cols());
    rest -= pieces_.back();
  }
  if (rest > 0) pieces_.push_back(rest);
  steps_per_epoch_ = algorithms::Batches(problem.training, problem.partition, problem.seed).steps_per_epoch();
  budget_ = std::max<std::int64_t>(1, algorithms::budget_in_steps(problem.training, steps_per_epoch_));
}

Learning::Learning(const algorithms::LearningProblem& problem, History& history, std::size_t parameters)
    : problem_(problem), history_(history), parameters_(parameters), state_(parameters), pieces_{parameters} {}

Learning::~Learning() = default;

double Learning::rate(std::int64_t schedule_step) const {
  return models::learning_rate(problem_.training.optimizer, problem_.training.schedule, schedule_step, steps_per_epoch_,
                               budget_);
}

Value Learning::initial() {
  return history_.make("initial", {}, [this](History::Inputs) {
    // Makes a new network, because networks in the pool have trained weights.
    const models::Network network(problem_.data.shape, problem_.model, problem_.seed);
    return Datum{models::flat_state(network), {}};
  });
}

Value Learning::initial_with_state() {
  return history_.make("initial with state", {initial()}, [this](History::Inputs in) {
    const auto workspace = borrow();
    Datum result{in[0]->numbers, {}};
    const std::vector<float> state = make_optimizer(problem_.training.optimizer, workspace->network())->state();
    result.numbers.insert(result.numbers.end(), state.begin(), state.end());
    return result;
  });
}

Value Learning::without_state(const Value& weights) {
  return history_.make("without state", {weights}, [this](History::Inputs in) {
    return Datum{{in[0]->numbers.begin(), in[0]->numbers.begin() + static_cast<std::ptrdiff_t>(state_)}, {}};
  });
}

Value Learning::make_learned(std::string_view name, std::vector<Value> inputs, const LearnedOperation& operation) {
  return history_.make(
      name, std::move(inputs), [this, operation](History::Inputs in) { return carry_out(*this, operation, in); }, true,
      history_.is_shared() ? to_bytes(operation) : std::string());
}

Value Learning::gradient(const Value& weights, std::size_t site, SiteBatches::How batches, std::int64_t number) {
  if (observer_ != nullptr) observer_->trained(site, batches, number, 1, 0);
  return make_learned(
      fmt::format("gradient of site {} batch {} {}", site, number, static_cast<int>(batches)), {weights},
      {.kind = LearnedOperation::Kind::gradient, .training = {.site = site, .batches = batches, .first = number}});
}

Value Learning::gradient_with_statistics(const Value& weights, std::size_t site, SiteBatches::How batches,
                                         std::int64_t number) {
  if (state_ == parameters_) return gradient(weights, site, batches, number);
  if (observer_ != nullptr) observer_->trained(site, batches, number, 1, 0);
  return make_learned(
      fmt::format("gradient with statistics of site {} batch {} {}", site, number, static_cast<int>(batches)),
      {weights},
      {.kind = LearnedOperation::Kind::gradient_with_statistics,
       .training = {.site = site, .batches = batches, .first = number}});
}

Value Learning::train(const Value& weights, const LocalTraining& how, const Value& correction) {
  if (observer_ != nullptr) observer_->trained(how.site, how.batches, how.first, how.steps, how.data_version);
  std::vector<Value> inputs = {weights};
  if (correction) inputs.push_back(correction);
  std::string data = how.data_version == 0 ? "" : fmt::format(" data {}", how.data_version);
  if (how.per_sample)
    data += fmt::format(" samples clipped to {} noise {}", how.per_sample->clip, how.per_sample->noise_multiplier);
  return make_learned(
      fmt::format("train site {} batches {} from {} {} steps schedule {} rate {} proximal {} state {}{}", how.site,
                  static_cast<int>(how.batches), how.first, how.steps, how.schedule_step, how.rate_factor, how.proximal,
                  how.keeps_state, data),
      std::move(inputs), {.kind = LearnedOperation::Kind::train, .training = how});
}

Value Learning::apply(const Value& weights, const Value& gradient, double rate_now) {
  return history_.make(
      fmt::format("apply rate {}", rate_now), {weights, gradient}, [this, rate_now](History::Inputs in) {
        const auto workspace = borrow();
        const std::span<const float> before(in[0]->numbers);
        workspace->set_weights(before.first(state_));
        const auto optimizer = make_optimizer(problem_.training.optimizer, workspace->network());
        optimizer->set_state(before.subspan(state_));
        const std::span<const float> row(in[1]->numbers);
        optimizer->update(workspace->network(), models::gradient_of_flat(workspace->network(), row.first(parameters_)),
                          rate_now);
        Datum result{models::flat_state(workspace->network()), {}};
        if (row.size() > parameters_)
          std::ranges::copy(row.subspan(parameters_),
                            result.numbers.begin() + static_cast<std::ptrdiff_t>(parameters_));
        const std::vector<float> state = optimizer->state();
        result.numbers.insert(result.numbers.end(), state.begin(), state.end());
        return result;
      });
}

Value Learning::first_numbers(const Value& row, std::size_t count) {
  return history_.make(fmt::format("the first {}", count), {row}, [count](History::Inputs in) {
    return Datum{{in[0]->numbers.begin(), in[0]->numbers.begin() + static_cast<std::ptrdiff_t>(count)}, {}};
  });
}

Value Learning::weighted_sum(const std::vector<Value>& values, const std::vector<double>& weights) {
  if (values.empty() || values.size() != weights.size())
    throw std::logic_error("a weighted sum needs one weight per value");
  return history_.make(fmt::format("sum {}", fmt::join(weights, " ")), values, [weights](History::Inputs in) {
    Datum sum;
    sum.numbers.assign(in[0]->numbers.size(), 0.0F);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i]->numbers.size() != sum.numbers.size())
        throw std::logic_error("a weighted sum needs rows of equal length");
      const auto weight = static_cast<float>(weights[i]);
      for (std::size_t k = 0; k < sum.numbers.size(); ++k) sum.numbers[k] += weight * in[i]->numbers[k];
    }
    return sum;
  });
}

namespace {

/// Distance between the random streams of two pieces of a message; larger than any sender's number.
constexpr std::uint32_t kStreamsOfAPiece = 1U << 20U;

using Shape = std::pair<Eigen::Index, Eigen::Index>;

/// Returns the numbers as the receiver decodes them, encoded piece by piece. Each piece is encoded as a matrix of its
/// shape, or as one row if it has none; its numbers beyond the matrix are encoded separately. Checks that each message
/// has the size that Compressor::size() gives.
std::vector<float> behind_the_wire(std::span<const float> numbers, const std::vector<std::size_t>& pieces,
                                   const std::vector<Shape>& shapes, const compress::Compressor& compressor,
                                   compress::EncodeContext context) {
  std::vector<float> arrived(numbers.size());
  std::size_t at = 0;
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    const std::size_t size = pieces[piece];
    const auto [rows, columns] = piece < shapes.size() ? shapes[piece] : Shape{1, static_cast<Eigen::Index>(size)};
    const auto others = static_cast<Eigen::Index>(size) - rows * columns;
    const std::size_t behind = at + size - static_cast<std::size_t>(others);
    compress::Encoder encoder;
    compressor.encode(Eigen::Map<const models::Matrix>(numbers.data() + at, rows, columns), context, encoder);
    if (others > 0)
      compressor.encode(Eigen::Map<const models::Matrix>(numbers.data() + behind, 1, others), context, encoder);
    const compress::Message message = encoder.take();
    const auto amount =
        compress::Amount::of_matrix(static_cast<double>(rows), static_cast<double>(columns), static_cast<double>(size));
    double said = 0;
    for (const step::Payload& payload : compressor.size(amount)) said += payload.bytes({});
    if (std::abs(said - static_cast<double>(message.size())) > 0.5) {
      throw std::logic_error(fmt::format("a message has {} bytes instead of {}", message.size(), said));
    }
    compress::Decoder decoder(message);
    compressor.decode(decoder, context, Eigen::Map<models::Matrix>(arrived.data() + at, rows, columns));
    if (others > 0) compressor.decode(decoder, context, Eigen::Map<models::Matrix>(arrived.data() + behind, 1, others));
    at += size;
    ++context.matrix;
    context.message += kStreamsOfAPiece;
  }
  return arrived;
}

}  // namespace

Learning::SentValue Learning::send(const Value& numbers, const Value& memory, const spec::CompressSpec& compress,
                                   std::uint32_t stream, std::uint32_t number, std::vector<std::size_t> pieces) {
  const compress::CompressorInfo& info = compress::encoding(compress.method);
  if (info.lossless) return {numbers, {}};
  std::string name = fmt::format("through {} {} {} {}", info.name, stream, number, compress.memory);
  for (const auto& [parameter, value] : compress.parameters) name += " " + parameter + "=" + value;
  const auto shapes = pieces.empty() && info.of_matrices ? shapes_ : std::vector<Shape>();
  if (pieces.empty()) {
    pieces = pieces_;
  } else {
    name += fmt::format(" pieces {}", fmt::join(pieces, " "));
  }
  const std::size_t count = std::accumulate(pieces.begin(), pieces.end(), std::size_t{0});
  std::vector<Value> inputs = {numbers};
  if (memory) inputs.push_back(memory);
  const Value both =
      history_.make(name, inputs, [this, compress, stream, number, pieces, shapes, count](History::Inputs in) {
        const auto compressor = compress::encoding(compress.method).make(compress.parameters);
        std::vector<float> own(in[0]->numbers.begin(), in[0]->numbers.begin() + static_cast<std::ptrdiff_t>(count));
        if (in.size() > 1) {
          for (std::size_t k = 0; k < own.size(); ++k) own[k] += in[1]->numbers[k];
        }
        Datum result{behind_the_wire(own, pieces, shapes, *compressor, {problem_.seed, number, stream}), {}};
        // Numbers other than parameters (running statistics) are sent unencoded.
        result.numbers.insert(result.numbers.end(), in[0]->numbers.begin() + static_cast<std::ptrdiff_t>(count),
                              in[0]->numbers.end());
        if (compress.memory) {
          for (std::size_t k = 0; k < own.size(); ++k) result.numbers.push_back(own[k] - result.numbers[k]);
        }
        return result;
      });
  if (!compress.memory) return {both, {}};
  const auto part = [&](bool last) {
    return history_.make(
        fmt::format("{} of {}", last ? "memory" : "arrived", count), {both}, [count, last](History::Inputs in) {
          const auto cut = in[0]->numbers.end() - static_cast<std::ptrdiff_t>(count);
          return last ? Datum{{cut, in[0]->numbers.end()}, {}} : Datum{{in[0]->numbers.begin(), cut}, {}};
        });
  };
  return {part(false), part(true)};
}

Value Learning::evaluate(const Value& weights) {
  return make_learned("evaluate", {weights}, {.kind = LearnedOperation::Kind::evaluate});
}

Value Learning::evaluate_at(const Value& weights, double seconds) {
  const std::size_t number = problem_.drift == nullptr ? 0 : problem_.drift->number_held_back_at(seconds);
  if (number == 0) return evaluate(weights);
  return make_learned(fmt::format("evaluate held back {}", number), {weights},
                      {.kind = LearnedOperation::Kind::evaluate, .held_back = number});
}

}  // namespace dadsim::protocols
