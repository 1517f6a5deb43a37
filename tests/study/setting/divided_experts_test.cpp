// Compares messages of devices that divide experts with values computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "estimate/bands.hpp"
#include "spec/expert_parallel.hpp"
#include "study/setting/division_cases.hpp"

namespace dadsim::study {
namespace {

using namespace test_division;
using enum schedule::Among;
using enum step::CollectiveKind;

TEST(DividedExperts, HandOverRowsTwiceAPass) {
  for (const int group : {2, 8}) {
    const auto sums = collectives_of(with("expert-parallel=\"" + std::to_string(group) + "\""));
    // Tokens are sent to experts and back, in the forward and in the backward pass. Bytes are those from one device to
    // each other device.
    const Sum rows = sums.at({experts, all_to_all});
    EXPECT_EQ(rows.count, 4);
    EXPECT_DOUBLE_EQ(rows.bytes, 4 * kElement * kRows * 256 / group);
  }
  const auto micro = collectives_of(with(R"(expert-parallel="4" micro-batch="1" recompute="full")"));
  EXPECT_EQ(micro.at({experts, all_to_all}).count, 4 * 6) << "a forward pass more for each of four micro-batches";
  const auto uneven = collectives_of(with(R"(expert-parallel="4" expert-imbalance="1.5")"));
  EXPECT_DOUBLE_EQ(uneven.at({experts, all_to_all}).bytes, 1.5 * 4 * kElement * kRows * 256 / 4);
  const auto narrow = collectives_of(with(R"(expert-parallel="4" expert-dispatch="fp8")"));
  EXPECT_DOUBLE_EQ(narrow.at({experts, all_to_all}).bytes, (2 * kElement + 2 * (1 + 4.0 / 128)) * kRows * 256 / 4)
      << "there a byte and a 128th of a scale, back as before";
}

// Two experts drawn evenly among 4 devices are on 4 (1 − (3/4)²) = 1.75 different devices. A quarter of an all-to-all
// stays on its device, but Hybrid-EP's table counts all bytes. Its kernels reach 0.774 + 0.057 of a message's rate.
TEST(DividedExperts, HandRowsOverOnceToEachDevice) {
  EXPECT_NEAR(spec::bytes_sent_once(4, 1, 2), 1.75 / 2 * 4 / 3 / (0.774 + 0.057), 1e-9);
}

/// Measured by Hybrid-EP on 16, 32 and 64 H100 with an adapter of 400 Gbit/s each. 4,096 tokens of 7,168 numbers in
/// bf16 go to 8 of the experts (deepseek-ai/DeepEP, Hybrid-EP_Implementation.md, called from PyTorch, 8
/// multiprocessors, mean of both directions).
TEST(DividedExperts, HandRowsOverOnceToEachNodeAsHybridEpDoes) {
  constexpr double kRate = 0.96 * 50e9;  // byte/s of a message over an adapter of 400 Gbit/s
  constexpr double kTable = 4096 * 7168 * 2.0;
  for (const auto& [nodes, rate] : {std::pair{2, 57.35e9}, {4, 48.61e9}, {8, 44.57e9}}) {
    const double different = nodes * (1 - std::pow(1 - 1.0 / nodes, 8));
    const double measured = different * kTable / rate;
    const double on_adapter = spec::bytes_sent_once(8 * nodes, nodes, 8) * 8 * kTable * (nodes - 1) / nodes;
    EXPECT_NEAR(on_adapter / kRate / measured, 1, 0.02) << nodes;
  }
}

/// An exchange that overlaps another micro-batch costs at most its part that computing does not hide.
TEST(DividedExperts, HandRowsOverNextToAnotherMicroBatch) {
  const auto run = [](const std::string& how) { return run_experiment(with(how, 16), false).runs.front(); };
  const std::string how = R"(expert-parallel="16" micro-batch="1")";
  const report::RunResult waits = run(how);
  const report::RunResult beside = run(how + R"( expert-overlap="true")");
  EXPECT_LT(beside.step_seconds, waits.step_seconds);
  EXPECT_GE(beside.step_seconds, waits.compute_seconds);
  const auto sums = collectives_of(with(how + R"( expert-overlap="true")", 16));
  EXPECT_EQ(sums.at({experts, all_to_all}).bytes, collectives_of(with(how, 16)).at({experts, all_to_all}).bytes);
  EXPECT_THROW(
      static_cast<void>(collectives_of(with(R"(expert-parallel="16" micro-batch="4" expert-overlap="true")", 16))),
      std::invalid_argument);
  EXPECT_NE(fault_of(R"(expert-parallel="16" expert-overlap="true")", 16)
                .find("needs expert parallelism and several micro-batches"),
            std::string::npos);
}

/// Expert kernels are known only from whole steps of one training software, so they have the band of such steps.
TEST(DividedExperts, HaveABandOfTheirOwn) {
  const auto categories = [](const std::string& how, int experts) {
    std::set<std::string> names;
    const report::RunResult run = run_experiment(with(how, experts), false).runs.front();
    for (const estimate::TimePart& part : run.step_band.value().parts) names.insert(part.category);
    return names;
  };
  EXPECT_EQ(categories(R"(expert-parallel="16")", 16), (std::set<std::string>{"compute.experts", "network.experts"}));
  EXPECT_FALSE(categories("", 0).contains("compute.experts"));
  const estimate::Spread& unknown = estimate::error_category("compute.experts").spread;
  EXPECT_GT(unknown.high - unknown.low, 0.9);
  EXPECT_GT(unknown.high, 1.5);
}

TEST(DividedExperts, TakeNoLessThanTheirLaunches) {
  const auto seconds = [](const std::string& how) {
    return run_experiment(with(how), false).runs.front().step_seconds;
  };
  const double ahead = seconds(R"(expert-parallel="4")");
  const double counted = seconds(R"(expert-parallel="4" expert-launch="counted")");
  const double launches = 6.7e-3 + 2 * 0.144e-3;  // launches of one block with two of 8 experts on each device
  EXPECT_LT(ahead, launches);
  EXPECT_GT(counted, launches);
  EXPECT_LT(counted, launches + ahead);
  const double twice = seconds(R"(expert-parallel="4" expert-launch="counted" micro-batch="2")");
  EXPECT_GT(twice, 2 * launches);
  const double again = seconds(R"(expert-parallel="4" expert-launch="counted" recompute="full")");
  EXPECT_NEAR(again - counted, launches / 3, 0.1 * launches) << "the pass forward once more";
}

TEST(DividedExperts, SumGradientsAmongThoseThatHaveTheSame) {
  const auto whole = collectives_of(with(""));
  const double all = whole.at({replicas, all_reduce}).bytes;
  EXPECT_FALSE(whole.contains({experts, all_to_all}));
  for (const int group : {2, 4, 8}) {
    const auto sums = collectives_of(with("expert-parallel=\"" + std::to_string(group) + "\""));
    EXPECT_DOUBLE_EQ(sums.at({replicas, all_reduce}).bytes, all - kElement * 8 * kExpert);
    EXPECT_DOUBLE_EQ(sums.at({expert_copies, all_reduce}).bytes, kElement * 8 / group * kExpert);
  }
  const auto alone = collectives_of(with(R"(expert-parallel="16")", 16));
  EXPECT_FALSE(alone.contains({expert_copies, all_reduce})) << "nobody else has them";
}

TEST(DividedExperts, ShardWhatTheyHaveAmongCopies) {
  const auto sums = collectives_of(with(R"(expert-parallel="4" sharding="parameters")"));
  EXPECT_DOUBLE_EQ(sums.at({expert_copies, reduce_scatter}).bytes, kElement * 2 * kExpert);
  EXPECT_DOUBLE_EQ(sums.at({expert_copies, all_gather}).bytes, 2 * kElement * 2 * kExpert / 4) << "for both passes";
}

TEST(DividedExperts, TakePartOfTheRowsOfALayerThatIsDivided) {
  const auto sums = collectives_of(with(R"(expert-parallel="4" tensor="2" sequence-parallel="true")"));
  EXPECT_DOUBLE_EQ(sums.at({experts, all_to_all}).bytes, 4 * kElement * kRows / 2 * 256 / 4);
  EXPECT_DOUBLE_EQ(sums.at({expert_copies, all_reduce}).bytes, kElement * 2 * kExpert) << "experts are whole";
}

TEST(DividedExperts, AreSimulatedAndMessagesAgreeWithFlow) {
  for (const char* how : {R"(expert-parallel="2")", R"(expert-parallel="8" micro-batch="2")",
                          R"(expert-parallel="16" sharding="optimizer")",
                          R"(expert-parallel="4" micro-batch="1" expert-launch="counted" expert-exchange="once")",
                          R"(expert-parallel="4" tensor="2" sequence-parallel="true" pipeline="2" micro-batch="1")"}) {
    SCOPED_TRACE(how);
    EXPECT_NEAR(flow_by_message(with(how, 16)), 1, 5e-3);
  }
}

TEST(DividedExperts, NeedWholeGroupsAndGradients) {
  EXPECT_NE(fault_of(R"(expert-parallel="16")").find("has 8 experts, which 16 devices cannot share equally"),
            std::string::npos);
  const auto divided = [](const std::string& tensor) {
    return fault_of(R"(expert-parallel="4" pipeline="2" sequence-parallel="true" tensor=)" + tensor);
  };
  const std::string fault = divided("\"8\"");
  EXPECT_NE(fault.find("expert-parallel of 4 is not a multiple of tensor of 8"), std::string::npos) << fault;
  const std::string remedy = "use tensor=";
  ASSERT_NE(fault.find(remedy), std::string::npos) << fault;
  const std::regex number(R"("\d+")");
  std::size_t applied = 0;
  for (std::sregex_iterator one(fault.begin() + static_cast<std::ptrdiff_t>(fault.find(remedy)), fault.end(), number);
       one != std::sregex_iterator(); ++one, ++applied)
    EXPECT_EQ(divided(one->str()), "");
  EXPECT_GT(applied, 0U) << fault;
  EXPECT_NE(fault_of(R"(expert-parallel="3")", 9).find("does not divide the 16 devices of a stage"), std::string::npos);
  EXPECT_NE(fault_of(R"(expert-imbalance="2")").find("needs expert parallelism"), std::string::npos);
}

/// Returns all bytes that a device sends for reductions and gathers in a run among peers.
double handed_over(const std::string& how, int experts, const std::string& run) {
  double bytes = 0;
  for (const auto& [which, sum] : collectives_of(with(how, experts, run))) {
    if (which.second != all_to_all) bytes += sum.bytes;
  }
  return bytes;
}

// Methods compress each matrix of an expert separately. With 16 experts instead of 8, a block has 8 times three more
// matrices of 256 × 128, and its router of 256 × experts grows too.
TEST(DividedExperts, MethodsTakeThemMatrixByMatrix) {
  constexpr double kMore = 16 - 8;
  const auto more = [](const std::string& run) { return handed_over("", 16, run) - handed_over("", 8, run); };
  const std::string power_sgd = R"(<run algorithm="power-sgd" exchange="peer" rank="2" least-compression="1"/>)";
  EXPECT_DOUBLE_EQ(more(power_sgd), kMore * kElement * (3 * 2 * (256 + 128) + 2));
  const std::string top_k = R"(<run algorithm="top-k" exchange="peer" fraction="0.01"/>)";
  const double kept = std::ceil(0.01 * 256 * 128);
  const double router = std::ceil(0.01 * 256 * 16) - std::ceil(0.01 * 256 * 8);
  EXPECT_DOUBLE_EQ(more(top_k), (kMore * 3 * kept + router) * (kElement + 4)) << "a number and its place";
  const std::string dad = R"(<run algorithm="dad" exchange="peer"/>)";
  EXPECT_DOUBLE_EQ(more(dad), kElement * kTokens * kMore) << "as many rows, but for the router's";
  const std::string plain = kGradientSharing;
  EXPECT_DOUBLE_EQ(more(plain), kElement * kMore * (kExpert + 256));
}

// Four devices hold copies of the same two of eight experts, and exchange factors of these experts alone.
TEST(DividedExperts, CopiesExchangeFactorsOfTheirOwn) {
  const std::string run = R"(<run algorithm="power-sgd" exchange="peer" rank="2" least-compression="1"/>)";
  const auto sums = collectives_of(with(R"(expert-parallel="4")", 8, run));
  EXPECT_DOUBLE_EQ(sums.at({expert_copies, all_reduce}).bytes, 2 * kElement * 3 * 2 * (256 + 128));
  EXPECT_FALSE(collectives_of(with(R"(expert-parallel="8")", 8, run)).contains({expert_copies, all_gather}));
}

// An adapter has two matrices, of in × rank and rank × out.
TEST(Adapters, MethodsTakeBothMatrices) {
  const auto of = [](const std::string& rank) {
    return handed_over("adapters=\"" + rank + "\"", 0,
                       R"(<run algorithm="power-sgd" exchange="peer" rank="1" least-compression="1"/>)");
  };
  // A rank-1 factorisation of a matrix of in × r has in + r numbers.
  const scenario::Scenario scenario = with(R"(adapters="8")", 0);
  double sides = 0;
  double all = 0;
  for (const spec::LayerShape& layer : timed_as_of(scenario, {}).shape.layers) {
    if (layer.adapter_rank == 0) continue;
    sides += 2;
    all += static_cast<double>(layer.in + 8 + 8 + layer.out);
  }
  ASSERT_GT(sides, 8);
  EXPECT_DOUBLE_EQ(of("8"), kElement * all);
  EXPECT_DOUBLE_EQ(of("16") - of("8"), kElement * 8 * sides);
}

}  // namespace
}  // namespace dadsim::study
