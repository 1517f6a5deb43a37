#include "models/data/idx.hpp"

#include <algorithm>

#include "samples.hpp"
#include "support/diagnostics.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t images = std::min<std::size_t>(size - 2, data[0] + std::size_t{256} * data[1]);
  const std::string_view all = fuzz::text_of(data, size).substr(2);
  const auto open = [&](bool first) {
    return models::SourceBytes(first ? "images" : "labels", first ? all.substr(0, images) : all.substr(images));
  };
  try {
    models::SourceBytes image_bytes = open(true);
    models::SourceBytes label_bytes = open(false);
    const models::IdxFacts facts = inspect_idx(image_bytes, label_bytes);
    models::SourceBytes image_bytes_again = open(true);
    models::SourceBytes label_bytes_again = open(false);
    const models::Samples samples = read_idx(image_bytes_again, label_bytes_again);
    fuzz::require(samples.size() == facts.samples, "both ways of reading agree");
    fuzz::require_sound(samples, facts.shape, facts.classes);
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
