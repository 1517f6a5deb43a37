// Fuzzes platform files. The reader of scenarios reads <cluster-platform>. SimGrid's own <platform> passes all checks
// that keep hostile files from SimGrid.
#include <algorithm>

#include "content_file.hpp"
#include "scenario/document/load.hpp"
#include "scenario/fake_catalog.hpp"
#include "sim/platform/platform_text.hpp"
#include "sim/platform/state_profiles.hpp"
#include "support/diagnostics.hpp"
#include "target.hpp"

using namespace dadsim;

namespace {

void look_at_simgrid_file(const fuzz::ContentFile& file, const std::string& text) {
  const bool refused = !sim::check_platform_text(file.path()).empty();
  static_cast<void>(sim::file_varies_over_time(file.path()));
  if (refused || !sim::may_have_state_profiles(text)) return;
  const sim::StateProfiles read = sim::read_state_profiles(file.path(), text);
  fuzz::require(read.faults.empty(), "what was found sound has no faults");
  for (const spec::StateProfileSpec& profile : read.profiles) {
    double last = 0;
    for (const auto& change : profile.changes) {
      fuzz::require(change.at >= last, "times of a state profile do not fall");
      last = change.at;
    }
  }
  const std::string without = sim::without_state_profiles(text);
  fuzz::require(std::ranges::count(without, '\n') == std::ranges::count(text, '\n'), "lines keep their numbers");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const scenario::Catalog catalog = test::fake_catalog();
  static const fuzz::ContentFile file("platform.xml");
  const std::string text(fuzz::text_of(data, size));
  file.write(text);
  try {
    static_cast<void>(scenario::load_platform_file(file.path(), catalog));
  } catch (const InputError&) {
  }
  look_at_simgrid_file(file, text);
  return 0;
}
