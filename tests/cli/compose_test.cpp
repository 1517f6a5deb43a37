// docs/composition.md is what `dadsim compose` prints, and the share of pairs that answer does not go down.
#include <gtest/gtest.h>

#include "cli/composition_text.hpp"
#include "cli/process.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

TEST(Compose, ThePageIsPrintedAndItsShareOnlyGoesUp) {
  constexpr double kShare = 0.853;  // of what means something: raise it when more answers (a feature may bring less)
  const study::Composition composition = study::compose_all(false);
  EXPECT_GE(composition.counts().share(), kShare);
  const std::string page = page_of(composition);
  EXPECT_TRUE(page == whole_file(DADSIM_SOURCE_DIR "/docs/composition.md").value_or(""))
      << "dadsim compose --page docs/composition.md";
}

TEST(Compose, SaysItOfTwoFeatures) {
  const test::Outcome two = test::run_dadsim({"compose", "dp-sgd", "batch-norm"});
  EXPECT_EQ(two.exit_code, 0) << two.err;
  EXPECT_NE(two.out.find("dp-sgd and <batch-norm/>: mean nothing:"), std::string::npos) << two.out;
  const test::Outcome none = test::run_dadsim({"compose", "nonsense"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("no two features"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace dadsim::cli
