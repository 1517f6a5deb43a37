#include "study/layout/divided_shape.hpp"

#include <cstddef>

#include "spec/context_parallel.hpp"
#include "spec/expert_parallel.hpp"

namespace dadsim::study {

spec::ModelShape with_parts_of(const spec::ModelShape& whole, const report::Layout& layout) {
  return spec::with_divided_experts(spec::with_divided_sequences(whole, layout.how.context), layout.how,
                                    static_cast<std::size_t>(layout.replicas));
}

}  // namespace dadsim::study
