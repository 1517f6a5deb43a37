// Tests that a parameter without an effect, given the others, is refused, and that the proposed remedy works.
#include "methods/idle_parameters.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "protocols/registry.hpp"

namespace dadsim::protocols {
namespace {

struct Idle {
  std::string method, parameter, value;
  spec::ParameterValues beside;  ///< values of other parameters with which it has an effect
  spec::ParameterValues idle_beside = {};
};

const std::vector<Idle>& idle_cases() {
  static const spec::ParameterValues kSteps{{"local-steps", "3"}};
  static const std::vector<Idle> kCases{
      {"fedavg", "local-epochs", "2", {}, kSteps},
      {"fedavg", "over-selection", "1.5", {{"fraction", "0.5"}}},
      {"fedavg", "partial", "keep", {{"stragglers", "0.5"}}},
      {"fedavg", "secure-bits", "16", {{"secure", "yes"}}},
      {"fedprox", "partial", "drop", {{"stragglers", "0.5"}}},
      {"fedprox", "local-epochs", "2", {}, kSteps},
      {"scaffold", "local-epochs", "2", {}, kSteps},
      {"fedopt", "beta2", "0.5", {{"server", "yogi"}}},
      {"fedopt", "beta2", "0.5", {{"server", "adam"}}, {{"server", "adagrad"}}},
      {"fedopt", "tau", "0.1", {{"server", "adagrad"}}},
      {"hierfavg", "local-epochs", "2", {}, kSteps},
      {"fedasync", "local-epochs", "2", {}, kSteps},
      {"fedbuff", "local-epochs", "2", {}, kSteps},
      {"dp-fedavg", "secure-bits", "16", {{"secure", "yes"}, {"noise", "local"}}},
      {"async-sgd", "slack", "2", {{"staleness", "bounded"}}},
      {"async-sgd", "lambda", "0.1", {{"staleness", "compensated"}}, {{"staleness", "damped"}}},
      {"cogd", "staleness", "2", {{"update", "stale"}}},
      {"lsg", "memory", "0.5", {{"mask", "magnitude"}}},
      {"dp-sgd", "delta", "0.001", {{"noise-multiplier", "1"}}, {{"noise-multiplier", "0"}}},
      {"forward-gradient", "blocks", "1", {{"loss", "local"}}},
      {"flare", "upload-every", "60", {{"schedule", "fixed"}}},
      {"flare", "deploy-every", "60", {{"schedule", "fixed"}}},
      {"flare", "level", "0.1", {}, {{"schedule", "fixed"}}},
      {"flare", "level", "0.1", {}, {{"phi", "0.2"}}},
      {"flare", "phi", "0.1", {}, {{"schedule", "fixed"}}},
      {"one-bit-adam", "warm-up-share", "0.5", {}, {{"warm-up-steps", "3"}}},
      {"flexible", "lossy", "true", {{"policy", "bytes"}}},
      {"flexible", "default", "dad", {}, {{"policy", "time"}}},
      {"flexible", "cap", "4", {{"default", "rank-dad"}}},
      {"flexible", "iterations", "3", {{"policy", "time"}, {"lossy", "true"}}},
      {"flexible", "tolerance", "0.5", {{"default", "rank-dad"}}, {{"default", "dad"}}},
  };
  return kCases;
}

/// Returns the faults of a run of four sites with the method and parameters.
methods::RunFaults faults_with(const methods::MethodInfo& info, const spec::ParameterValues& given) {
  const spec::RunSpec run = methods::run_of(info, given);
  methods::RunFacts facts{run};
  facts.sites = 4;
  return methods::faults_of(info, facts);
}

TEST(IdleParameters, AreRefusedAndActBesideWhatTheRefusalNames) {
  for (const Idle& one : idle_cases()) {
    const std::string what = one.method + "(" + one.parameter + ")";
    const methods::MethodInfo* info = find_method(one.method);
    ASSERT_NE(info, nullptr) << what;
    spec::ParameterValues idle = one.idle_beside, acting = one.beside;
    EXPECT_TRUE(faults_with(*info, idle).empty()) << what;
    idle[one.parameter] = acting[one.parameter] = one.value;
    const methods::RunFaults faults = faults_with(*info, idle);
    ASSERT_EQ(faults.size(), 1U) << what;
    const std::string told = one.parameter + "=\"" + one.value + "\" ";
    EXPECT_TRUE(faults[0].what.starts_with(told + "needs ") || faults[0].what.starts_with(told + "conflicts with "))
        << faults[0].what;
    EXPECT_NE(faults[0].remedy.find("remove"), std::string::npos) << faults[0].remedy;
    EXPECT_TRUE(faults_with(*info, acting).empty()) << what << ": " << faults_with(*info, acting).front().what;
  }
}

TEST(IdleParameters, AreComparedAsNumbersAndPassedOverWhereTheRunHasThemNot) {
  static constexpr spec::RealParameter kShare{"share", 0, 1, "0.5", ""};
  static constexpr auto kKind = spec::choice<bool>("kind", {{"plain", false}, {"shared", true}}, "");
  const std::vector<methods::ActsBeside> all{{kShare, kKind, {"shared"}}};
  EXPECT_TRUE(methods::faults_of_idle_parameters({{"share", "0.50"}, {"kind", "plain"}}, all).empty());
  EXPECT_TRUE(methods::faults_of_idle_parameters({{"kind", "plain"}}, all).empty());
  EXPECT_TRUE(methods::faults_of_idle_parameters({{"share", "0.4"}}, all).empty());
  const methods::RunFaults faults = methods::faults_of_idle_parameters({{"share", "0.4"}, {"kind", "plain"}}, all);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].what, "share=\"0.4\" needs kind=\"shared\"");
  EXPECT_EQ(faults[0].remedy, "set kind=\"shared\", or remove it");
}

}  // namespace
}  // namespace dadsim::protocols
