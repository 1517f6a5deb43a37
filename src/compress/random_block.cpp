#include <boost/random/uniform_int_distribution.hpp>

#include "compress/compressors.hpp"
#include "compress/random_coordinates.hpp"

namespace dadsim::compress {
namespace {

/// Draws consecutive places from a random start, wrapping around at the end.
class RandomBlock final : public RandomCoordinates {
 public:
  using RandomCoordinates::RandomCoordinates;

 private:
  std::vector<std::int32_t> places(std::int64_t elements, std::int64_t count, RandomStream random) const override {
    if (count == 0) return {};
    boost::random::uniform_int_distribution<std::int64_t> any(0, elements - 1);
    const std::int64_t start = any(random);
    std::vector<std::int32_t> block(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < block.size(); ++i) {
      block[i] = static_cast<std::int32_t>((start + static_cast<std::int64_t>(i)) % elements);
    }
    return block;
  }
  step::Work places_work(const step::Expression&, const step::Expression&) const override { return {}; }
  double index_words() const override { return 0.0; }
};

}  // namespace

CompressorInfo random_block_info() {
  CompressorInfo info = coordinates_info();
  info.name = "random-block";
  info.make = [](const spec::ParameterValues& values) {
    return std::make_unique<RandomBlock>(coordinates_options(values));
  };
  return info;
}

}  // namespace dadsim::compress
