#include "algorithms/pieces/factor_memory.hpp"

#include <utility>

#include "algorithms/cost.hpp"
#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {

models::Matrix FactorMemory::add(std::size_t of, const models::ConstBlock& delta, const models::ConstBlock& input) {
  models::Matrix whole = models::counted(delta.transpose() * input);
  if (held_.at(of).size() > 0) whole += held_[of];
  return whole;
}

void FactorMemory::keep(std::size_t of, models::Matrix whole, const Factors& sent) {
  if (sent.rank() > 0) whole.noalias() -= models::counted(sent.left.transpose() * sent.right);
  held_.at(of) = std::move(whole);
}

step::Work factorise_and_keep_work(const step::Expression& rows, const step::Expression& rank,
                                   const FactoriseOptions& options) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  step::Work work = factorise_work(rows, rank, options).back();  // of the matrix itself
  const step::Expression entries = in_with_bias() * out();
  work.flops = work.flops + entries + 2.0 * rank * entries;
  work.bytes_moved = work.bytes_moved + cost::kFloatBytes * (4.0 * entries + rank * (in_with_bias() + out()));
  work.launches = work.launches + 2.0;
  return work;
}

}  // namespace dadsim::algorithms
