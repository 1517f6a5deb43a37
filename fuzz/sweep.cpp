// Fuzzes a damaged sweep file that is merged alone, as by `dadsim merge`. The merged file must contain what the CSV
// reports, or the input must be refused.
#include <cstdio>

#include "content_file.hpp"
#include "study/sweep/merge.hpp"
#include "support/diagnostics.hpp"
#include "support/output_error.hpp"
#include "target.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ContentFile file("in.sqlite");
  static const fuzz::ContentFile out("out.sqlite");
  static const fuzz::ContentFile again("again.sqlite");
  file.write(fuzz::text_of(data, size));
  const auto merge = [](const fuzz::ContentFile& to, const fuzz::ContentFile& from) {
    std::remove(to.path().c_str());
    return study::merge_sweeps(to.path(), {from.path()});
  };
  study::MergedSweep merged;
  try {
    merged = merge(out, file);
  } catch (const InputError&) {
    return 0;
  } catch (const OutputError&) {
    return 0;
  }
  const study::MergedSweep second = merge(again, out);
  fuzz::require(second.points == merged.points && second.missing == merged.missing && second.failed == merged.failed,
                "what was put together holds the same");
  return 0;
}
