// Expects that docs/composition.md matches the checks of every pair of features, and that the share of accepted pairs
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
  constexpr double kShare = 0.95;  // least share of meaningful pairs that are accepted; raise it when more are
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
