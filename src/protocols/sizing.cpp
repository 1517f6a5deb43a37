#include "protocols/sizing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>

#include "algorithms/cost.hpp"
#include "algorithms/exact/local_gradient.hpp"
#include "algorithms/step/training_step.hpp"
#include "compress/registry.hpp"
#include "models/flat.hpp"
#include "models/network.hpp"
#include "models/optimizer.hpp"
#include "schedule/divide.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::protocols {
namespace {

bool is_update(const schedule::Task& task) {
  const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
  return compute != nullptr && compute->phase == step::Phase::update;
}

bool is_no_forward_pass(const schedule::Task& task) {
  const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
  return compute != nullptr && compute->phase != step::Phase::forward;
}

/// Returns a step structure with the operations of `body` once for each of `matrices` layers, in a backward sweep.
template <class Body>
step::StepStructure for_every_matrix(std::size_t matrices, const Body& body) {
  step::StepRecorder recorder;
  recorder.begin({1});
  recorder.begin_sweep(step::Over::layers_backward, true);
  for (std::size_t m = matrices; m-- > 0;) {
    recorder.begin_group(static_cast<std::int32_t>(m));
    body(recorder);
  }
  return recorder.take().first;
}

/// Returns the amount of numbers in a layer, as an expression of its size.
compress::Amount of_layer() {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formula reads as in the papers
  return compress::Amount::of_matrix(out(), in(), parameters());
}

}  // namespace

Sizing::Sizing(const algorithms::LearningProblem& problem, const spec::CompressSpec& compress, TimedNetwork timed)
    : problem_(problem), timed_(std::move(timed)) {
  const compress::CompressorInfo& info = compress::compressors().at(compress.method);
  compresses_ = !info.lossless;
  compressor_ = info.make(compress.parameters);
  // Records a step with one sample, because sizes are symbolic.
  const models::Network network(problem.data.shape, problem.model, problem.seed);
  learned_ = network.shape();
  matrices_ = network.layers();
  auto rest = static_cast<double>(models::flat_size(network));
  for (const auto& matrix : network.parameters().matrices) {
    pieces_.push_back(static_cast<double>(matrix.weight.size() + matrix.bias.size()));
    amounts_.push_back(compress::Amount::of_matrix(static_cast<double>(matrix.weight.rows()),
                                                   static_cast<double>(matrix.weight.cols()), pieces_.back()));
    rest -= pieces_.back();
  }
  if (rest > 0) {
    pieces_.push_back(rest);
    amounts_.emplace_back(rest);
  }
  algorithms::TrainingStep step(network, spec::ExchangeMode::peer, problem.seed);
  step.begin(0, problem.data.train, {{problem.partition.at(0).at(0)}});
  step.set_sharing(false);
  algorithms::LocalGradient().run(step);
  step.finish();
  step.backward([&](std::size_t) { step.charge(algorithms::cost::update(problem.training.optimizer)); });
  local_step_ = step.recorder().take().first;
  plain_bytes_ = bytes_of(nullptr);
  compressed_bytes_ = compresses_ ? bytes_of(compressor_.get()) : plain_bytes_;
  parameters_ = static_cast<double>(timed_.shape.parameters());
  saved_bytes_ = timed_.saved_numbers * bytes_per_element(timed_.precision);
}

Sizing::~Sizing() = default;

Sizing::SchedulePtr Sizing::put_in(const step::StepStructure& structure, std::int64_t samples) const {
  step::StepSizes sizes;
  sizes.samples = {static_cast<std::int32_t>(samples)};
  return std::make_shared<const schedule::Schedule>(
      schedule::instantiate(structure, sizes, learned_, timed_.shape, timed_.sample_scale, timed_.precision));
}

Sizing::SchedulePtr Sizing::in_passes(std::int64_t samples) const {
  step::StepSizes sizes;
  sizes.samples = {static_cast<std::int32_t>(samples)};
  const auto of_layers = [&](const spec::LayerRange& layers, double sample_scale) {
    return schedule::instantiate(local_step_, sizes, learned_, timed_.shape, sample_scale, timed_.precision, nullptr,
                                 {}, &layers);
  };
  const double timed_samples = static_cast<double>(samples) * timed_.sample_scale;
  return std::make_shared<const schedule::Schedule>(
      schedule::divide({.step = of_layers,
                        .whole = timed_.shape,
                        .device = timed_.shape,
                        .batch = std::max<std::int64_t>(1, std::llround(timed_samples)),
                        .sample_scale = timed_.sample_scale},
                       timed_.passes, 1));
}

Sizing::SchedulePtr Sizing::local_step(std::int64_t samples) const {
  SchedulePtr& schedule = local_steps_[samples];
  if (!schedule) schedule = timed_.passes.divides() ? in_passes(samples) : put_in(local_step_, samples);
  return schedule;
}

world::Work Sizing::whole(SchedulePtr schedule, step::Role who, double times) const {
  const std::size_t tasks = schedule->tasks.size();
  return {.pieces = {{.schedule = std::move(schedule), .who = who, .behind = tasks, .times = times}}};
}

world::Work Sizing::training(std::span<const std::int64_t> samples, std::int64_t first) const {
  std::map<std::int64_t, double> times;
  for (const std::int64_t one : samples) times[one] += 1;
  world::Work work{.pieces = {}, .step = first, .steps = static_cast<std::int64_t>(samples.size())};
  for (const auto& [count, often] : times) {
    work.pieces.push_back(whole(local_step(count), step::Role::workers, often).pieces.front());
    work.pieces.back().samples = count;
    work.seconds += often * timed_.step_seconds;
  }
  return work;
}

world::Work Sizing::gradient(std::int64_t samples, std::int64_t number) const {
  world::Work work = whole(local_step(samples), step::Role::workers);
  const auto& tasks = work.pieces.front().schedule->tasks;
  work.pieces.front().behind =
      static_cast<std::size_t>(std::ranges::find_if(tasks, is_update) - tasks.begin());  // the update is the last task
  work.pieces.front().samples = samples;  // an island is timed by its whole step, with the update
  work.step = number;
  work.seconds = timed_.step_seconds;
  return work;
}

world::Work Sizing::inference(std::int64_t samples) const {
  SchedulePtr& schedule = undivided_steps_[samples];
  if (!schedule) schedule = put_in(local_step_, samples);
  world::Work work = whole(schedule, step::Role::workers);
  const auto& tasks = schedule->tasks;
  work.pieces.front().behind =
      static_cast<std::size_t>(std::ranges::find_if(tasks, is_no_forward_pass) - tasks.begin());  // it comes first
  work.step = -1;
  work.seconds = timed_.step_seconds;
  return work;
}

Sizing::SchedulePtr Sizing::per_parameter_schedule(step::Phase phase, step::Role who, const step::Work& work) const {
  const std::string name = fmt::format("{} {} {} / {} / {}", static_cast<int>(phase), static_cast<int>(who),
                                       work.flops.to_string(), work.bytes_moved.to_string(), work.launches.to_string());
  SchedulePtr& schedule = per_parameter_[name];
  if (!schedule) {
    schedule = put_in(for_every_matrix(matrices_,
                                       [&](step::StepRecorder& recorder) {
                                         recorder.add(step::ComputeOp{phase, who, {work}, false, true});
                                       }),
                      1);
  }
  return schedule;
}

world::Work Sizing::update(step::Role who) const {
  world::Work work;
  for (const step::ComputeOp& op : algorithms::cost::update(problem_.training.optimizer)) {
    work.pieces.push_back(whole(per_parameter_schedule(op.phase, who, op.branches.front()), who).pieces.front());
  }
  return work;
}

world::Work Sizing::per_parameter(step::Role who, double flops, double floats, double launches) const {
  const step::Work work{.flops = flops * step::extent::parameters(),
                        .bytes_moved = 4.0 * floats * step::extent::parameters(),
                        .launches = launches};
  return whole(per_parameter_schedule(step::Phase::add, who, work), who);
}

world::Work Sizing::sum(step::Role who, std::size_t count) const {
  return whole(
      per_parameter_schedule(step::Phase::add, who, algorithms::cost::add_gradients(static_cast<double>(count))), who);
}

world::Work Sizing::encode(step::Role who, double times) const {
  if (!compresses_) return {};
  return whole(per_parameter_schedule(step::Phase::encode, who, compressor_->encode_work(step::extent::parameters())),
               who, times);
}

world::Work Sizing::decode(step::Role who, double times) const {
  if (!compresses_) return {};
  return whole(per_parameter_schedule(step::Phase::decode, who, compressor_->decode_work(step::extent::parameters())),
               who, times);
}

world::Work Sizing::encode_by(const spec::CompressSpec& compress, step::Role who) const {
  const compress::CompressorInfo& info = compress::encoding(compress.method);
  if (info.lossless) return {};
  const step::Work work = info.make(compress.parameters)->encode_work(of_layer());
  return whole(per_parameter_schedule(step::Phase::encode, who, work), who);
}

world::Work Sizing::decode_by(const spec::CompressSpec& compress, step::Role who, double times) const {
  const compress::CompressorInfo& info = compress::encoding(compress.method);
  if (info.lossless) return {};
  const step::Work work = info.make(compress.parameters)->decode_work(of_layer());
  return whole(per_parameter_schedule(step::Phase::decode, who, work), who, times);
}

double Sizing::bytes_of(const compress::Compressor* compressor) const {
  const auto send = [&](step::StepRecorder& recorder, const compress::Amount& numbers) {
    step::CollectiveOp op{.kind = step::CollectiveKind::gather, .payload = {{step::extent::parameters()}}};
    if (compressor != nullptr) op.payload = compressor->size(numbers);
    recorder.add(std::move(op));
  };
  step::StepRecorder recorder;
  recorder.begin({1});
  recorder.append(for_every_matrix(matrices_, [&](step::StepRecorder& each) { send(each, of_layer()); }));
  recorder.begin_sweep(step::Over::other_layers);
  recorder.begin_group(-1);
  send(recorder, step::extent::parameters());
  double bytes = 0;
  const SchedulePtr schedule = put_in(recorder.take().first, 1);
  for (const schedule::Task& task : schedule->tasks) {
    if (const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what)) bytes += collective->bytes[0];
  }
  return bytes;
}

double Sizing::share_of(std::span<const std::size_t> pieces) const {
  double sum = 0;
  for (const std::size_t piece : pieces) sum += pieces_.at(piece);
  return sum / std::accumulate(pieces_.begin(), pieces_.end(), 0.0);
}

double Sizing::bytes_of(std::span<const std::size_t> pieces, const spec::CompressSpec& compress) const {
  const compress::CompressorInfo& info = compress::encoding(compress.method);
  const std::unique_ptr<compress::Compressor> compressor = info.make(compress.parameters);
  if (timed_.shape != learned_ || timed_.precision != spec::Precision::fp32) {
    return share_of(pieces) * (bytes_of(info.lossless ? nullptr : compressor.get()) + saved_bytes_);
  }
  double bytes = share_of(pieces) * saved_bytes_;
  for (const std::size_t piece : pieces) {
    for (const step::Payload& payload : compressor->size(amounts_.at(piece))) bytes += payload.bytes({});
  }
  return bytes;
}

world::Work repeated(world::Work work, double times) {
  for (world::Work::Piece& piece : work.pieces) piece.times *= times;
  work.seconds *= times;
  return work;
}

world::Work operator+(world::Work a, const world::Work& b) {
  a.seconds += b.seconds;
  a.pieces.insert(a.pieces.end(), b.pieces.begin(), b.pieces.end());
  if (a.step < 0 && b.step >= 0) {
    a.step = b.step;
    a.steps = b.steps;
  } else if (b.step >= 0) {
    a.steps += b.steps;
  }
  return a;
}

}  // namespace dadsim::protocols
