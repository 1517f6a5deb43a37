#include "compress/registry.hpp"

#include "compress/compressors.hpp"

namespace dadsim::compress {

Registry<CompressorInfo>& compressors() {
  static Registry<CompressorInfo> registry{
      "compressor",
      {none_info(), fp16_info(), bf16_info(), int8_info(), e3m0_info(), top_k_info(), chunk_top_k_info(),
       random_k_info(), random_block_info(), sidco_info(), redsync_info(), gaussian_k_info(), dgc_info(), qsgd_info(),
       terngrad_info(), natural_info(), sign_info()},
  };
  return registry;
}

const CompressorInfo& encoding(const std::string& method) {
  static const CompressorInfo low_rank = low_rank_info(), int8_table = int8_table_info();
  return method == low_rank.name ? low_rank : method == int8_table.name ? int8_table : compressors().at(method);
}

}  // namespace dadsim::compress
