#include "compress/compressors.hpp"

namespace dadsim::compress {
namespace {

constexpr double kHalf = 2.0;

/// Sends each number x as the nearest 16-bit number y. Encoding and decoding are one pass over memory each.
class Half final : public Compressor {
 public:
  explicit Half(step::ElementType type) : type_(type) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext&, Encoder& into) const override {
    type_ == step::ElementType::float16 ? into.fp16(numbers) : into.bf16(numbers);
    return numbers.size();
  }
  void decode(Decoder& from, const EncodeContext&, models::MutableBlock into) const override {
    type_ == step::ElementType::float16 ? from.fp16(into) : from.bf16(into);
  }
  std::vector<step::Payload> size(const Amount& numbers) const override { return {{numbers.elements, type_}}; }
  step::Work encode_work(const Amount& numbers) const override {
    return {.flops = numbers.elements, .bytes_moved = (kFloatBytes + kHalf) * numbers.elements, .launches = 1.0};
  }
  step::Work decode_work(const Amount& numbers) const override { return encode_work(numbers); }

 private:
  step::ElementType type_;
};

CompressorInfo info_of(std::string name, step::ElementType type) {
  return {.name = std::move(name), .adds = true, .parameters = {}, .make = [type](const spec::ParameterValues&) {
            return std::make_unique<Half>(type);
          }};
}

}  // namespace

CompressorInfo fp16_info() { return info_of("fp16", step::ElementType::float16); }

CompressorInfo bf16_info() { return info_of("bf16", step::ElementType::bfloat16); }

}  // namespace dadsim::compress
