#include "models/data/text.hpp"

#include "samples.hpp"
#include "support/diagnostics.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t kLength = 4;
  try {
    models::SourceBytes bytes("text", fuzz::text_of(data, size));
    const models::TextSymbols text = read_text(bytes, 0.25);
    const auto all = static_cast<std::int64_t>(text.symbols.size());
    fuzz::require(text.train >= 0 && text.train <= all, "the training part is a part");
    const spec::SampleShape shape{1, kLength, 1, text.vocabulary};
    fuzz::require_sound(windows_of(text, 0, models::windows_in(text.train, kLength), kLength), shape, text.vocabulary);
    fuzz::require_sound(windows_of(text, text.train, models::windows_in(all - text.train, kLength), kLength), shape,
                        text.vocabulary);
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
