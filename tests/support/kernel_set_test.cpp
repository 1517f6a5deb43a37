#include "support/kernel_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/build.hpp"
#include "support/diagnostics.hpp"

namespace dadsim {
namespace {

std::string refusal(std::string_view name) {
  try {
    kernel_set_named(name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(KernelSet, WithoutANameTheQuickestThatRunsHere) {
  const KernelSet quickest = kernel_set_named("");
  EXPECT_TRUE(runs_here(quickest));
  for (const KernelSet set : kKernelSets) {
    if (set > quickest) {
      EXPECT_FALSE(runs_here(set)) << name_of(set);
    }
  }
}

TEST(KernelSet, EveryProcessorHasThePortableOnes) {
  EXPECT_TRUE(runs_here(KernelSet::portable));
  EXPECT_EQ(kernel_set_named("portable"), KernelSet::portable);
}

TEST(KernelSet, OneThatDoesNotRunHereIsRefused) {
  for (const KernelSet set : kKernelSets) {
    const std::string name(name_of(set));
    if (runs_here(set)) {
      EXPECT_EQ(kernel_set_named(name), set);
    } else {
      EXPECT_EQ(refusal(name).find("DADSIM_KERNELS=" + name + ": this processor does not have"), 0U);
    }
  }
}

TEST(KernelSet, AnUnknownNameIsRefusedWithThoseThatRunHere) {
  const std::string message = refusal("sse9");
  EXPECT_EQ(message.find("DADSIM_KERNELS=sse9: there are no kernels of this name; use one of portable"), 0U) << message;
  for (const KernelSet set : kKernelSets) {
    const bool named = message.find(name_of(set)) != std::string::npos;
    EXPECT_EQ(named, runs_here(set)) << message;
  }
}

TEST(KernelSet, ResultsOfOtherKernelsHaveAnotherBuild) {
  const std::string sources = source_identity();
  const std::string expected =
      kernel_set() == KernelSet::portable ? sources : sources + "+" + std::string(name_of(kernel_set()));
  EXPECT_EQ(build(), expected);
}

}  // namespace
}  // namespace dadsim
