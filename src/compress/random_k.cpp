#include <boost/random/uniform_int_distribution.hpp>

#include "compress/compressors.hpp"
#include "compress/random_coordinates.hpp"

namespace dadsim::compress {
namespace {

/// Draws places one by one, without repetition (Floyd's algorithm: Bentley, Programming Pearls, CACM 30(9), 1987), in
/// ascending order.
class RandomK final : public RandomCoordinates {
 public:
  using RandomCoordinates::RandomCoordinates;

 private:
  std::vector<std::int32_t> places(std::int64_t elements, std::int64_t count, RandomStream random) const override {
    std::vector<bool> taken(static_cast<std::size_t>(elements));
    for (std::int64_t last = elements - count; last < elements; ++last) {
      boost::random::uniform_int_distribution<std::int64_t> upto(0, last);
      const auto drawn = static_cast<std::size_t>(upto(random));
      taken[taken[drawn] ? static_cast<std::size_t>(last) : drawn] = true;
    }
    std::vector<std::int32_t> rising;
    rising.reserve(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (taken[i]) rising.push_back(static_cast<std::int32_t>(i));
    }
    return rising;
  }
  /// Counts a random number per place (some twenty operations of Philox), one bit per element that is cleared and read,
  /// and the list.
  step::Work places_work(const step::Expression& elements, const step::Expression& kept) const override {
    return {.flops = 20.0 * kept, .bytes_moved = 0.25 * elements + 6.0 * kept, .launches = 3.0};
  }
  double index_words() const override { return 1.0; }
};

}  // namespace

CompressorInfo random_k_info() {
  CompressorInfo info = coordinates_info();
  info.name = "random-k";
  info.make = [](const spec::ParameterValues& values) {
    return std::make_unique<RandomK>(coordinates_options(values));
  };
  return info;
}

}  // namespace dadsim::compress
