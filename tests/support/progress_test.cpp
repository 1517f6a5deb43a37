#include "support/progress.hpp"

#include <gtest/gtest.h>

namespace dadsim {
namespace {

TEST(Progress, IsToldInLinesWhereNoTerminalIsLongAfterItBegan) {
  testing::internal::CaptureStderr();
  ProgressLine soon(0), later;
  soon.show("timing 10 %");
  soon.show("timing 20 %");
  later.show("learning 10 %");
  soon.clear();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "timing 10 %\n") << "then whenever it has taken twice as long";
}

}  // namespace
}  // namespace dadsim
