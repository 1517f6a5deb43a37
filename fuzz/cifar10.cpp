#include "models/data/cifar10.hpp"

#include "samples.hpp"
#include "support/diagnostics.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    models::SourceBytes bytes("batch.bin", fuzz::text_of(data, size));
    const std::int64_t count = inspect_cifar10(bytes);
    models::SourceBytes again("batch.bin", fuzz::text_of(data, size));
    std::vector<float> features;
    models::Samples samples;
    read_cifar10(again, count, features, samples.labels);
    samples.features = Eigen::Map<const models::Matrix>(features.data(), count, models::kCifar10Shape.size());
    fuzz::require_sound(samples, models::kCifar10Shape, 10);
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
