// Expects that docs/composition.md matches the checks of all pairs of features, and that the fraction of accepted pairs
// does not fall. DADSIM_WRITE_COMPOSITION writes the page.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "study/composition/composition_page.hpp"
#include "support/whole_file.hpp"

namespace dadsim::study {
namespace {

TEST(Composition, ThePageIsPrintedAndItsShareOnlyGoesUp) {
  constexpr double kShare = 0.95;  // least fraction of meaningful pairs that must be accepted; raise it when the
                                   // fraction grows
  const std::string path = DADSIM_SOURCE_DIR "/docs/composition.md";
  const Composition composition = compose_all();
  fmt::print("{}\n", counts_in_words(composition.counts()));
  EXPECT_GE(composition.counts().share(), kShare);
  EXPECT_GE(composition.counts("devices per worker").share(), 0.97);
  const std::string page = page_of(composition);
  if (std::getenv("DADSIM_WRITE_COMPOSITION") != nullptr) std::ofstream(path) << page;
  EXPECT_TRUE(page == whole_file(path).value_or("")) << "DADSIM_WRITE_COMPOSITION=1 writes " << path;
}

}  // namespace
}  // namespace dadsim::study
