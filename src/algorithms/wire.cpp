#include "algorithms/wire.hpp"

#include "compress/registry.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {

Wire::Wire(const spec::CompressSpec& asked, std::uint64_t seed)
    : info_(&compress::compressors().at(asked.method)),
      compressor_(info_->make(asked.parameters)),
      remembers_(asked.memory),
      seed_(seed) {}

void Wire::encode(models::ConstBlock numbers, compress::Encoder& into) {
  RandomStream random(seed_, Purpose::rounding, message_++, step_);
  compressor_->encode(numbers, random, into);
}

}  // namespace dadsim::algorithms
