// What PowerSGD sends per epoch (Vogels, Karimireddy, Jaggi, NeurIPS 2019, arXiv:1905.13727, tables 3 to 5): every
// matrix of p × q as (p + q) · min(r, p, q) floats, embedding tables too, and everything else as it is.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "spec/workload.hpp"
#include "step/schedule.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::step {
namespace {

using namespace extent;

spec::ModelShape learned() {
  return {"mlp",
          {spec::dense_shape("fc1", 20, 16, true), spec::dense_shape("fc2", 16, 12, true),
           spec::dense_shape("fc3", 12, 10, true)}};
}

/// One step as gradient sharing records it (rank 0), or as PowerSGD does.
std::pair<StepStructure, StepSizes> step_of(std::int32_t rank) {
  StepRecorder recorder;
  recorder.begin({128, 128});
  const auto sum = [&](const Expression& elements) {
    return recorder.add(CollectiveOp{CollectiveKind::all_reduce, {{elements, ElementType::float32}}});
  };
  const auto sweep = [&](const auto& body) {
    recorder.begin_sweep(Over::layers_backward, true);
    for (std::int32_t layer = 3; layer-- > 0;) {
      recorder.begin_group(layer);
      body(static_cast<std::size_t>(layer));
    }
  };
  if (rank == 0) {
    sweep([&](std::size_t) { sum(parameters()); });
  } else {
    const Expression r = matrix_rank(recorder.add_slot({rank}));
    std::array<std::int32_t, 3> p{};
    sweep([&](std::size_t) { sum(parameters() + -1.0 * in() * out()); });
    sweep([&](std::size_t layer) { p.at(layer) = sum(r * out()); });
    sweep([&](std::size_t layer) {
      recorder.add(WaitOp{Role::workers, p.at(layer)});
      sum(r * in());
    });
  }
  recorder.begin_sweep(Over::other_layers);
  recorder.begin_group(-1);
  sum(parameters());
  return recorder.take();
}

double mib_per_epoch(const char* workload, std::int32_t rank, double steps) {
  const auto [structure, sizes] = step_of(rank);
  double bytes = 0;
  for (const Task& task :
       instantiate(structure, sizes, learned(), spec::workload_registry().find(workload)->shape()).tasks) {
    if (const auto* collective = std::get_if<CollectiveTask>(&task.what)) bytes += collective->bytes[0];
  }
  return bytes * steps / (1024.0 * 1024.0);
}

struct Published {
  const char* workload;
  double steps;  ///< per epoch: 24 of 16 × 128 images; 70 as they follow from 7,730 MB
  std::int32_t rank;
  double mib;    ///< worked out from the shapes to more digits than the 1,023, 4, 8 … MB printed
  double ratio;  ///< printed: gradient sharing ÷ PowerSGD; 0: not printed
};

class PowerSgdBytes : public testing::TestWithParam<Published> {};

TEST_P(PowerSgdBytes, AreThoseOfThePaper) {
  const Published& row = GetParam();
  const double sent = mib_per_epoch(row.workload, row.rank, row.steps);
  EXPECT_NEAR(sent, row.mib, 0.001 * row.mib);
  if (row.ratio > 0) {
    EXPECT_EQ(std::round(mib_per_epoch(row.workload, 0, row.steps) / sent), row.ratio);
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, PowerSgdBytes,
                         testing::Values(Published{"resnet-18-cifar10", 24, 0, 1023.00, 1},
                                         Published{"resnet-18-cifar10", 24, 1, 4.2055, 243},
                                         Published{"resnet-18-cifar10", 24, 2, 7.5311, 136},
                                         Published{"resnet-18-cifar10", 24, 4, 14.182, 72},
                                         Published{"resnet-18-cifar10", 24, 7, 24.159, 0},
                                         Published{"lstm-wikitext-2", 70, 0, 7730.3, 1},
                                         Published{"lstm-wikitext-2", 70, 1, 24.964, 310},
                                         Published{"lstm-wikitext-2", 70, 2, 38.054, 203},
                                         Published{"lstm-wikitext-2", 70, 4, 64.233, 120}));

TEST(PowerSgdBytes, NeverExceedTheMatrix) {
  // Rank 1,000 of a 10 × 512 classifier is 10.
  const auto [structure, sizes] = step_of(1000);
  const spec::ModelShape timed{"last", {spec::dense_shape("classifier", 512, 10, false)}};
  double elements = 0;
  for (const Task& task : instantiate(structure, sizes, learned(), timed).tasks) {
    if (const auto* collective = std::get_if<CollectiveTask>(&task.what)) elements += collective->bytes[0] / 4;
  }
  EXPECT_EQ(elements, 10 * (512 + 10));
}

}  // namespace
}  // namespace dadsim::step
