#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/step/training_step.hpp"

// Directions along which sites differentiate their losses. All entries ~ N(0, 1), drawn from an eight-byte seed that a
// site draws for each step: a receiver of the seed draws the same numbers.

namespace dadsim::algorithms {

/// Returns the seed of a site in a step.
std::uint64_t seed_of_site(const TrainingStep& step, std::size_t site);

/// A seed in the form that a message carries: two 32-bit words.
struct SeedWords {
  std::int32_t low = 0, high = 0;
};
SeedWords words_of(std::uint64_t seed);
std::uint64_t seed_of(SeedWords words);

/// Returns V of a matrix and v of its biases in the `number`-th direction of a seed. `matrix` numbers the matrices of
/// the network, then those of the local heads.
models::LayerGradient draw_weights(std::uint64_t seed, std::size_t matrix, std::int64_t number, Eigen::Index out,
                                   Eigen::Index in, bool bias);

/// Returns u of a matrix's pre-activations, rows of all sites × out: every site draws its own rows.
models::Matrix draw_activities(const TrainingStep& step, const std::vector<std::uint64_t>& seeds, std::size_t matrix,
                               std::int64_t number, Eigen::Index rows, Eigen::Index out);

/// Returns the first row of each site, and the end of the last one, among `rows` rows of all sites.
std::vector<Eigen::Index> first_rows(const TrainingStep& step, Eigen::Index rows);

// Costs of the functions above.

/// Work of drawing and writing `count` numbers from N(0, 1).
step::Work draw_work(const step::Expression& count);
/// Work of Ż = Ẋ Wᵀ with W block-diagonal of `groups` blocks, and of φ'(Z) ⊙ Ż.
step::Work tangent_work(double groups);
/// Work of φ'(Z) ⊙ Ż at a layer without incoming tangent; at layers without an outer product, of passing tangents on.
step::Work entry_tangent_work();
/// Work of Ż += A Vᵀ.
step::Work moved_weights_work();
step::Work repeated(const step::Work& work, double times);

}  // namespace dadsim::algorithms
