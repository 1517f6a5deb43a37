#include "algorithms/sign/demo.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/methods.hpp"
#include "algorithms/pieces/chunked_cosines.hpp"
#include "algorithms/pieces/largest_entries.hpp"

namespace dadsim::algorithms {
namespace {

using step::extent::parameters;

constexpr int kPackedBits = 16;

step::Work sum_of(const step::Work& a, const step::Work& b) {
  return {a.flops + b.flops, a.bytes_moved + b.bytes_moved, a.launches + b.launches};
}

/// Work of δ ← β δ + η g, its transform, the threshold in each chunk by radix selection (four passes over magnitudes),
/// a pass that removes the kept coefficients, their inverse transform, and a difference.
step::Work share_work(std::int64_t kept, std::int64_t chunk) {
  const step::Expression sent = kept_of_chunks(kept, chunk);
  const step::Work cosines = chunked_cosines_work(chunk);
  return sum_of(sum_of(cosines, cosines),
                {.flops = (3.0 + 4.0 + 1.0 + 1.0) * parameters(),
                 .bytes_moved = cost::kFloatBytes * ((3.0 + 4.0 + 2.0 + 3.0) * parameters() + 2.0 * sent),
                 .launches = 8.0});
}

/// Work of sums and counts of the sites' coefficients, means, the inverse transform, signs.
step::Work merge_work(std::int64_t kept, std::int64_t chunk, const step::Expression& senders) {
  const step::Expression sent = senders * kept_of_chunks(kept, chunk);
  return sum_of(chunked_cosines_work(chunk), {.flops = 2.0 * sent + 2.0 * parameters(),
                                              .bytes_moved = cost::kFloatBytes * (6.0 * sent + 6.0 * parameters()),
                                              .launches = 4.0});
}

step::Work sign_work() {
  return {.flops = parameters(), .bytes_moved = 2.0 * cost::kFloatBytes * parameters(), .launches = 1.0};
}

std::uint32_t bf16_code(float x) { return Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(x)); }
float of_bf16_code(std::uint32_t code) { return std::bit_cast<float>(code << 16U); }

/// Averages coefficients, each over the sites that have sent it.
class Means {
 public:
  Means(Eigen::Index rows, Eigen::Index columns, const ChunkedCosines& cosines)
      : sum_(models::Matrix::Zero(cosines.chunks(), cosines.chunk_size())),
        count_(sum_),
        cosines_(cosines),
        rows_(rows),
        columns_(columns) {}
  void add(Eigen::Index chunk, Eigen::Index place, float value) {
    sum_(chunk, place) += value;
    count_(chunk, place) += 1;
  }
  /// Returns the signs of the matrix with these coefficients.
  models::Matrix signs() const {
    if (rows_ * columns_ == 0) return models::Matrix::Zero(rows_, columns_);
    const models::Matrix mean = sum_.array() / count_.array().max(1.0F);
    return cosines_.invert(mean).cwiseSign();
  }

 private:
  models::Matrix sum_, count_;
  const ChunkedCosines& cosines_;
  Eigen::Index rows_, columns_;
};

/// Returns 1 for a worker that has rows, else 0.
step::Expression takes_part() { return step::extent::min({1.0, step::extent::rows()}); }

}  // namespace

void DeMo::take(models::Matrix& momentum, Lists& into) const {
  if (momentum.size() == 0) return;
  const ChunkedCosines cosines(momentum.rows(), momentum.cols(), options_.chunk);
  models::Matrix coefficients = cosines.transform(momentum);
  models::Matrix sent = models::Matrix::Zero(coefficients.rows(), coefficients.cols());
  const Eigen::Index count = std::min<Eigen::Index>(options_.kept, cosines.chunk_size());
  Eigen::Index next = into.values.cols();
  into.values.conservativeResize(1, next + cosines.chunks() * count);
  for (Eigen::Index chunk = 0; chunk < cosines.chunks(); ++chunk) {
    models::Matrix of_chunk = coefficients.row(chunk);
    const KeptEntries kept = take_largest(of_chunk, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const std::int32_t place = kept.indices[static_cast<std::size_t>(i)];
      const float value = options_.packed ? of_bf16_code(bf16_code(kept.values(i))) : kept.values(i);
      into.values(next++) = value;
      into.places.push_back(place);
      sent(chunk, place) = value;
    }
  }
  momentum -= cosines.invert(sent);
}

DeMo::Lists DeMo::lists_of(models::LayerGradient& momentum) const {
  Lists lists;
  take(momentum.weight, lists);
  models::Matrix biases = momentum.bias.transpose();
  take(biases, lists);
  momentum.bias = biases.transpose();
  if (!options_.packed) return lists;
  for (const float value : lists.values.reshaped()) lists.value_codes.push_back(bf16_code(value));
  lists.place_codes.assign(lists.places.begin(), lists.places.end());
  return lists;
}

std::vector<DeMo::Lists> DeMo::take_of_sites(TrainingStep& step, std::size_t l) {
  const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
  step.charge(step::Phase::factorise, step::Role::workers, {share_work(options_.kept, options_.chunk)});
  const auto rate = static_cast<float>(step.update_rule().rate);
  const models::WeightsOf<float>& weights = step.weights(l);
  std::vector<Lists> lists(step.sites());
  for (std::size_t site = 0; site < step.sites(); ++site) {
    if (step.samples(site) == 0) continue;
    models::LayerGradient own{models::Matrix::Zero(weights.out(), weights.in()),
                              models::Vector::Zero(weights.bias.size())};
    models::LayerGradient& momentum = momentum_[l][step.among_all(site)];
    if (momentum.weight.size() == 0) momentum = own;
    add_to(site, own);
    momentum.weight = options_.decay * momentum.weight + rate * own.weight;
    momentum.bias = options_.decay * momentum.bias + rate * own.bias;
    lists[site] = lists_of(momentum);
  }
  return lists;
}

Contribution DeMo::contribution(const std::vector<Lists>& lists) const {
  const step::Expression width = kept_of_chunks(options_.kept, options_.chunk);
  std::vector<Contribution::Part> parts;
  if (options_.packed) {
    parts = {{.width = width,
              .of = nullptr,
              .codes = [&](std::size_t s) { return std::span<const std::uint32_t>(lists[s].value_codes); },
              .bits = kPackedBits},
             {.width = width,
              .of = nullptr,
              .codes = [&](std::size_t s) { return std::span<const std::uint32_t>(lists[s].place_codes); },
              .bits = kPackedBits}};
  } else {
    parts = {{.width = width, .of = [&](std::size_t s) { return models::ConstBlock(lists[s].values); }},
             {.width = width, .of = nullptr, .whole = [&](std::size_t s) {
                return std::span<const std::int32_t>(lists[s].places);
              }}};
  }
  return {takes_part(), std::move(parts)};
}

models::LayerGradient DeMo::signs_of_mean(TrainingStep& step, std::size_t l, const Rows& all) const {
  step.charge(step::Phase::merge, step::Role::workers,
              {merge_work(options_.kept, options_.chunk, step::extent::over_workers(takes_part()))});
  const models::WeightsOf<float>& weights = step.weights(l);
  const ChunkedCosines of_matrix(weights.out(), weights.in(), options_.chunk);
  const ChunkedCosines of_biases(1, std::max<Eigen::Index>(1, weights.bias.size()), options_.chunk);
  Means matrix(weights.out(), weights.in(), of_matrix);
  Means biases(1, weights.bias.size(), of_biases);
  const Eigen::Index per_chunk = std::min<Eigen::Index>(options_.kept, of_matrix.chunk_size());
  const Eigen::Index per_bias_chunk = std::min<Eigen::Index>(options_.kept, of_biases.chunk_size());
  const Eigen::Index of_site =
      of_matrix.chunks() * per_chunk + (weights.bias.size() > 0 ? of_biases.chunks() * per_bias_chunk : 0);
  const std::size_t count = options_.packed ? all.codes[0].size() : all.whole[0].size();
  for (std::size_t i = 0; i < count; ++i) {
    const Eigen::Index within = static_cast<Eigen::Index>(i) % of_site;
    const Eigen::Index place = options_.packed ? static_cast<Eigen::Index>(all.codes[1][i]) : all.whole[0][i];
    const float value = options_.packed ? of_bf16_code(all.codes[0][i]) : all[0].data()[i];
    if (within < of_matrix.chunks() * per_chunk) {
      matrix.add(within / per_chunk, place, value);
    } else {
      biases.add((within - of_matrix.chunks() * per_chunk) / per_bias_chunk, place, value);
    }
  }
  // Propagates a NaN loss, which signs would hide because they are always finite.
  const float one = std::isfinite(step.loss()) ? 1.0F : std::numeric_limits<float>::quiet_NaN();
  return {one * matrix.signs(), one * biases.signs().transpose()};
}

void DeMo::run(TrainingStep& step) {
  momentum_.resize(step.matrices(), std::vector<models::LayerGradient>(step.all_sites()));
  std::vector<Pending<Rows>> sums(step.matrices());
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    const std::vector<Lists> lists = take_of_sites(step, l);
    sums[l] = step.exchange().combine(contribution(lists), concatenation());
    step.backpropagate(l);
  });
  step.backward_with_embeddings([&](std::size_t l) { step.gradient(l) = signs_of_mean(step, l, sums[l].wait()); });
  step.transform_non_matrix_parameters([](std::size_t, models::Vector& sum) { sum = sum.cwiseSign(); }, sign_work());
}

SynchronousMethod demo_method() {
  static constexpr spec::IntegerParameter kKept{"kept", 1, 4096, "32", "k: coefficients that a site sends per chunk"};
  static constexpr spec::IntegerParameter kChunk{
      "chunk", 1, 256, "64",
      "s: largest side of a chunk; a chunk's sides are the largest divisors, up to s, of the matrix's sides"};
  static constexpr spec::FloatParameter kDecay{"decay", 0, 1, "0.999", "β of the momentum"};
  static constexpr auto kPacking = spec::choice<bool>("packing", {{"wide", false}, {"packed", true}},
                                                      "wide: fp32 and int32 per coefficient; packed: bf16 and 16 bits");
  return {{.name = "demo",
           .family = "quantisation",
           .parameters = {kKept, kChunk, kDecay, kPacking},
           .compresses = false,
           .optimizer = Needs::plain_sgd,
           .applies_signs = true,
           // Counts the momentum δ.
           .state =
               [](const spec::ParameterValues&) {
                 return estimate::AlgorithmState{step::extent::in_with_bias() * step::extent::out(), 0, true};
               }},
          [](const spec::RunSpec& run) {
            return std::make_unique<DeMo>(DeMo::Options{.decay = kDecay.of(run.parameters),
                                                        .kept = kKept.of(run.parameters),
                                                        .chunk = kChunk.of(run.parameters),
                                                        .packed = kPacking.of(run.parameters)});
          }};
}

}  // namespace dadsim::algorithms
