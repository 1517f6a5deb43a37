#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

Learned learn_with_two_targets(const std::string& runs) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("scenario.xml", test::tiny_scenario("", runs));
  return learn_scenario(load_scenario(path, {"training.target-accuracy=0.3 0.6"}, make_catalog()), nullptr, false);
}

// The reference is left out if no run needs it: with a hundred full-batch clients, each of its steps would use all
// clients' data.
TEST(Reference, IsNotLearnedWhereNoStepsAreComparedWithIt) {
  EXPECT_TRUE(learn_with_two_targets("<run algorithm=\"fedavg\"/>").reference.empty());
  EXPECT_EQ(learn_with_two_targets("<run algorithm=\"fedavg\"/><run algorithm=\"rank-dad\"/>").reference.size(), 1U);
  EXPECT_TRUE(
      learn_with_two_targets("<run algorithm=\"gradient-sharing\"/><run algorithm=\"rank-dad\"/>").reference.empty());
}

}  // namespace
}  // namespace dadsim::study
