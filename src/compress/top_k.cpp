#include "compress/compressors.hpp"
#include "compress/largest_entries.hpp"
#include "compress/sparse.hpp"

namespace dadsim::compress {
namespace {

/// Sends the k = ⌈fraction · n⌉ numbers of the largest magnitudes, each a value and an index.
class ExactTopK final : public SparseList {
 public:
  explicit ExactTopK(double fraction) : SparseList(fraction), fraction_(fraction) {}

  step::Work encode_work(const Amount& numbers) const override { return largest_work(numbers.elements, kept(numbers)); }

 private:
  std::vector<std::int32_t> choose(std::span<const float> numbers, const EncodeContext&) const override {
    if (numbers.empty()) return {};
    return largest(numbers, kept_of_numbers(fraction_, std::ssize(numbers)));
  }

  double fraction_;
};

}  // namespace

CompressorInfo top_k_info() {
  return {
      .name = "top-k",
      .forwards = true,
      .biased = true,
      .keeps = keeps_fraction,
      .leaves_biases = true,
      .family = "sparsification",
      .parameters = {kFraction},
      .make = [](const spec::ParameterValues& values) { return std::make_unique<ExactTopK>(kFraction.of(values)); }};
}

}  // namespace dadsim::compress
