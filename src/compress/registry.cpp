#include "compress/registry.hpp"

#include "compress/compressors.hpp"

namespace dadsim::compress {

Registry<CompressorInfo>& compressors() {
  static Registry<CompressorInfo> registry{
      "compressor",
      {none_info(), fp16_info(), bf16_info(), int8_info(), e3m0_info()},
  };
  return registry;
}

}  // namespace dadsim::compress
