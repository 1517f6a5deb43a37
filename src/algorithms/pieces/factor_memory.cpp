#include "algorithms/pieces/factor_memory.hpp"

#include <utility>

#include "algorithms/cost.hpp"
#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {

Factors FactorMemory::factorise(std::size_t of, const models::ConstBlock& delta, const models::ConstBlock& input,
                                const FactoriseOptions& options, std::uint64_t seed, std::uint32_t stream,
                                std::uint32_t step) {
  models::Matrix whole = models::counted(delta.transpose() * input);
  if (held_.at(of).size() > 0) whole += held_[of];
  Factors factors = factorise_matrix(whole, options, seed, stream, step);
  if (factors.rank() > 0) whole.noalias() -= models::counted(factors.left.transpose() * factors.right);
  held_[of] = std::move(whole);
  return factors;
}

std::vector<step::Work> factorise_work(const FactorMemory* memory, const step::Expression& rows,
                                       const step::Expression& rank, const FactoriseOptions& options) {
  if (memory == nullptr) return factorise_work(rows, rank, options);
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  step::Work work = factorise_work(rows, rank, options).back();  // of the matrix itself
  const step::Expression entries = in_with_bias() * out();
  work.flops = work.flops + entries + 2.0 * rank * entries;
  work.bytes_moved = work.bytes_moved + cost::kFloatBytes * (4.0 * entries + rank * (in_with_bias() + out()));
  work.launches = work.launches + 2.0;
  return {work};
}

}  // namespace dadsim::algorithms
