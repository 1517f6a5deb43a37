#include "models/data/cifar10.hpp"

#include "support/diagnostics.hpp"
#include "target.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    SourceBytes bytes("batch.bin", fuzz::text_of(data, size));
    const std::int64_t count = inspect_cifar10(bytes);
    SourceBytes again("batch.bin", fuzz::text_of(data, size));
    std::vector<float> features;
    Samples samples;
    read_cifar10(again, count, features, samples.labels);
    samples.features = Eigen::Map<const Matrix>(features.data(), count, kCifar10Shape.size());
    fuzz::require_sound(samples, kCifar10Shape, 10);
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
