#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/step/training_step.hpp"

// Directions along which sites differentiate their losses. All entries ~ N(0, 1), drawn from a seed of eight bytes that
// a site has drawn for this step: who knows the seed draws the same numbers.

namespace dadsim::algorithms {

/// The seed of a site in a step.
std::uint64_t seed_of_site(const TrainingStep& step, std::size_t site);

/// In what a message carries it.
struct SeedWords {
  std::int32_t low = 0, high = 0;
};
SeedWords words_of(std::uint64_t seed);
std::uint64_t seed_of(SeedWords words);

/// V of a matrix and v of its biases in the `number`-th direction of a seed. `matrix` counts those of the network, then
/// those of heads beside it.
models::LayerGradient draw_weights(std::uint64_t seed, std::size_t matrix, std::int64_t number, Eigen::Index out,
                                   Eigen::Index in, bool bias);

/// u of a matrix's pre-activations, rows of all sites × out: every site draws its own rows.
models::Matrix draw_activities(const TrainingStep& step, const std::vector<std::uint64_t>& seeds, std::size_t matrix,
                               std::int64_t number, Eigen::Index rows, Eigen::Index out);

/// The first row of each site, and behind the last one where it ends, of `rows` rows of all sites.
std::vector<Eigen::Index> first_rows(const TrainingStep& step, Eigen::Index rows);

// What that costs.

/// `count` numbers drawn from N(0, 1) and written.
step::Work draw_work(const step::Expression& count);
/// Ż = Ẋ Wᵀ where W has `groups` blocks on its diagonal and nothing else, and φ'(Z) ⊙ Ż.
step::Work tangent_work(double groups);
/// φ'(Z) ⊙ Ż where no tangent comes in; of layers without an outer product what passes through them.
step::Work entry_tangent_work();
/// Ż += A Vᵀ.
step::Work moved_weights_work();
step::Work repeated(const step::Work& work, double times);

}  // namespace dadsim::algorithms
