#include "algorithms/exchange/wire.hpp"

#include "compress/registry.hpp"

namespace dadsim::algorithms {

Wire::Wire(const spec::CompressSpec& asked, std::uint64_t seed)
    : info_(&compress::compressors().at(asked.method)),
      compressor_(info_->make(asked.parameters)),
      adds_(info_->adds(asked.parameters)),
      forwards_(info_->forwards(asked.parameters)),
      unbiased_(!info_->biased(asked.parameters)),
      remembers_(asked.memory),
      scope_(asked.scope),
      seed_(seed) {}

std::int64_t Wire::encode(models::ConstBlock numbers, std::int32_t site, std::uint32_t matrix, compress::Encoder& into,
                          bool sum) {
  const auto [state, is_new] = state_.try_emplace({of_all(site), matrices_.places.at(matrix)});
  if (is_new) state->second = compressor_->make_state();
  return compressor_->encode(numbers, {seed_, step_, message_++, matrix, state->second.get(), sum}, into);
}

void Wire::decode(compress::Decoder& from, std::uint32_t matrix, models::MutableBlock into) const {
  compressor_->decode(from, {seed_, step_, 0, matrix}, into);
}

compress::Memory& Wire::memory(std::int32_t site, std::uint32_t matrix) {
  const auto [memory, is_new] = memory_.try_emplace({of_all(site), matrices_.places.at(matrix)});
  if (!is_new) return *memory->second;
  if (!differences_)
    memory->second = compressor_->make_memory();
  else if (site >= 0)
    memory->second = std::make_unique<compress::EstimateMemory>();
  else
    memory->second = std::make_unique<compress::ErrorMemory>();
  return *memory->second;
}

compress::Memory& Wire::memory_of_uncompressed(std::uint32_t sum, std::size_t sites) {
  const auto [memory, is_new] = uncompressed_.try_emplace(uncompressed_sums_.places.at(sum));
  if (is_new) memory->second = compressor_->make_memory_of_uncompressed(sites);
  return *memory->second;
}

}  // namespace dadsim::algorithms
