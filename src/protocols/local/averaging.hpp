#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocols/learning.hpp"
#include "protocols/sizing.hpp"
#include "spec/parameter.hpp"

namespace dadsim::protocols {

/// Mean of the rows that workers send.
enum class Average : std::uint8_t { all, contributors, direction };
inline constexpr auto kAverage = spec::choice<Average>(
    "average", {{"all", Average::all}, {"contributors", Average::contributors}, {"direction", Average::direction}},
    "all: over all workers; contributors: each number over the workers that have sent one other than 0; direction: of "
    "each matrix the mean of directions, as long as the rows are on average (RDA)");

/// Returns Σ p_i x_i with p_i the weights over their sum, or the mean of contributors, or of directions; the parameters
/// of rows come first.
world::Value averaged(Average how, Learning& learning, const std::vector<world::Value>& rows,
                      std::vector<double> weights);
/// Returns its work for `rows` rows, beyond adding them up.
world::Work averaging_work(Average how, const Sizing& sizing, step::Role who, std::size_t rows);

}  // namespace dadsim::protocols
