#include "compress/compressors.hpp"

namespace dadsim::compress {
namespace {

/// Sends fp32 numbers unchanged.
class None final : public Compressor {
 public:
  std::int64_t encode(models::ConstBlock numbers, const EncodeContext&, Encoder& into) const override {
    into.fp32(numbers);
    return numbers.size();
  }
  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override { from.fp32(into); }
  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {{numbers.elements, step::ElementType::float32}};
  }
  step::Work encode_work(const Amount&) const override { return {}; }
  step::Work decode_work(const Amount&) const override { return {}; }
};

}  // namespace

CompressorInfo none_info() {
  return {.name = "none", .adds = true, .lossless = true, .parameters = {}, .make = [](const spec::ParameterValues&) {
            return std::make_unique<None>();
          }};
}

}  // namespace dadsim::compress
