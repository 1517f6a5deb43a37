#include "examples/compressor/centred.hpp"

namespace dadsim::compress {
namespace {

class Centred final : public Compressor {
 public:
  std::int64_t encode(models::ConstBlock numbers, const EncodeContext&, Encoder& into) const override {
    const float mean = numbers.size() > 0 ? numbers.mean() : 0.0F;
    into.fp32(mean);
    into.bf16(models::Matrix(numbers.array() - mean));
    return numbers.size();
  }
  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    const float mean = from.fp32();
    from.bf16(into);
    into.array() += mean;
  }
  std::vector<step::Payload> size(const Amount& numbers) const override {
    return {{1.0, step::ElementType::float32}, {numbers.elements, step::ElementType::bfloat16}};
  }
  step::Work encode_work(const Amount& numbers) const override {
    return {.flops = 2.0 * numbers.elements, .bytes_moved = 10.0 * numbers.elements, .launches = 2.0};
  }
  step::Work decode_work(const Amount& numbers) const override {
    return {.flops = numbers.elements, .bytes_moved = 6.0 * numbers.elements, .launches = 1.0};
  }
};

}  // namespace

CompressorInfo centred_info() {
  return {.name = "example-centred",
          .adds = false,
          .lossless = false,
          .parameters = {},
          .make = [](const spec::ParameterValues&) { return std::make_unique<Centred>(); }};
}

}  // namespace dadsim::compress
