// Writes inputs of scripts/golden that are not in the repository. The overrides of malformed/NAME/scenario.xml are in
// malformed/NAME/overrides, one per line. Also writes drawn/language-N.xml and drawn/small-N.xml with the files that
// they name.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "api/drawn_scenario.hpp"
#include "scenario/malformed_cases.hpp"
#include "study/composition/drawn_files.hpp"
#include "study/composition/drawn_scenario.hpp"
#include "study/setting/catalog.hpp"

namespace {

namespace fs = std::filesystem;
using namespace dadsim;

constexpr std::uint64_t kOverTheLanguage = 150;  // number of scenarios drawn over the whole language, of which one in
                                                 // four is accepted
constexpr unsigned kAccepted = 50;

void write_malformed(const fs::path& folder) {
  for (const test::MalformedCase& one : test::malformed_cases()) {
    if (one.file != test::MalformedCase::File::regular) continue;
    const fs::path own = folder / one.name;
    fs::create_directories(own);
    test::write_case(one, own / "scenario.xml", "platform.xml");
    fs::copy_file(fs::path(DADSIM_SOURCE_DIR) / "platforms" / "hospitals.xml", own / "platform.xml");
    std::ofstream overrides(own / "overrides");
    for (const std::string& change : one.overrides) overrides << change << '\n';
  }
}

void write_drawn(const fs::path& folder) {
  const test::DrawnFiles files;
  fs::copy(files.folder().path(), folder, fs::copy_options::recursive);
  const scenario::Catalog catalog = study::make_catalog();
  for (std::uint64_t seed = 1; seed <= kOverTheLanguage; ++seed)
    std::ofstream(folder / ("language-" + std::to_string(seed) + ".xml"))
        << test::text_of(test::drawn_scenario(seed, catalog));
  for (unsigned seed = 1; seed <= kAccepted; ++seed)
    std::ofstream(folder / ("small-" + std::to_string(seed) + ".xml")) << test::DrawnScenario(seed).with("");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return EXIT_FAILURE;
  const fs::path folder = arguments[1];
  write_malformed(folder / "malformed");
  write_drawn(folder / "drawn");
}
