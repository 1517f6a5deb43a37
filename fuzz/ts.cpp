#include "models/data/ts.hpp"

#include "samples.hpp"
#include "support/diagnostics.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [train_text, test_text] = fuzz::two_files(fuzz::text_of(data, size));
  try {
    models::SourceBytes train_bytes("train.ts", train_text);
    models::SourceBytes test_bytes("test.ts", test_text);
    const models::TsFile train = read_ts(train_bytes);
    const models::TsFile test = read_ts(test_bytes);
    const models::Dataset set = dataset_of(train, test, train.cases, test.cases);
    fuzz::require_sound(set.train, set.shape, set.classes);
    fuzz::require_sound(set.test, set.shape, set.classes);
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
