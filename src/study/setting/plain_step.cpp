#include "study/setting/plain_step.hpp"

#include <array>
#include <variant>

#include "models/data/dataset.hpp"
#include "protocols/sizing.hpp"
#include "sim/device.hpp"

namespace dadsim::study {
namespace {

constexpr std::uint64_t kSeed = 1;  // sizes do not depend on the seed

spec::DataSpec few_digits() {
  spec::DataSpec data;
  data.source = spec::DigitsSource{.train = 10, .test = 10};
  return data;
}

}  // namespace

struct SmallProblem {
  models::Dataset data = models::load_dataset(few_digits(), kSeed);
  models::Partition partition{{0}};
  spec::ModelSpec model{
      .name = "",
      .layers = {spec::DenseSpec{.units = 32}, spec::DenseSpec{.units = 10, .activation = spec::Activation::identity}}};
  spec::TrainingSpec training;
};

PlainSteps::PlainSteps() : problem_(std::make_unique<SmallProblem>()) {
  problem_->training.batch = 1;
  problem_->training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .momentum = 0.9};
}

PlainSteps::~PlainSteps() = default;

schedule::Schedule PlainSteps::of(const spec::ModelShape& shape, std::int64_t batch, spec::Precision precision) const {
  const protocols::Sizing sizing(
      {problem_->data, problem_->partition, problem_->model, problem_->training, kSeed, nullptr}, spec::CompressSpec{},
      {shape, static_cast<double>(batch), precision});
  constexpr std::array<std::int64_t, 1> kOne{1};
  return *sizing.training(kOne, 0).pieces.front().schedule;
}

double seconds_of(const spec::DeviceSpec& device, const schedule::Schedule& schedule) {
  double seconds = 0;
  for (const schedule::Task& task : schedule.tasks) {
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    if (compute != nullptr && compute->who == step::Role::workers)
      seconds += sim::seconds_on(device, *compute, 0, schedule.precision);
  }
  return seconds;
}

}  // namespace dadsim::study
