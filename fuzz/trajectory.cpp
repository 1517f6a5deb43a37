// Reads trajectories in the form of a sweep's file, packed and plain. The plain form bypasses compression and
// fingerprint, which stop damaged bytes. Any trajectory that can be read must be written back with the same bytes.
#include <stdexcept>

#include "study/learning/learned_bytes.hpp"
#include "target.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  if (const study::LearnedRunPtr run = study::learned_from_bytes(bytes)) {
    const study::LearnedRunPtr again = study::learned_from_bytes(study::to_bytes(*run));
    fuzz::require(again != nullptr && study::to_bytes(*again) == study::to_bytes(*run), "a run comes back as it was");
  }
  try {
    WireReader reader(bytes);
    WireWriter writer;
    writer << reader.read<study::LearnedRun>();
    fuzz::require(bytes.starts_with(writer.bytes()), "what was read is written as it was");
  } catch (const std::out_of_range&) {
    return 0;
  }
  return 0;
}
