#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithms/learning_problem.hpp"
#include "compress/compressor.hpp"
#include "protocols/site_batches.hpp"
#include "schedule/schedule.hpp"
#include "spec/parallelism.hpp"
#include "world/world.hpp"

namespace dadsim::protocols {

/// Network whose work and messages are timed: the trained one, or a workload in its place.
struct TimedNetwork {
  spec::ModelShape shape;
  double sample_scale = 1;  ///< timed samples ÷ learned samples
  spec::Precision precision = spec::Precision::fp32;
  double step_seconds = 0;   ///< seconds of a training step, if the scenario gives them
  double saved_numbers = 0;  ///< numbers saved with a model in addition to its parameters
  /// Split of a participant's device pass over a batch: micro-batches and recomputation.
  spec::ParallelismSpec passes = {};
};

/// Work and messages of participants, in numbers for the timed network. Work is that of the recorded training step.
class Sizing {
 public:
  Sizing(const algorithms::LearningProblem& problem, const spec::CompressSpec& compress, TimedNetwork timed);
  ~Sizing();
  Sizing(const Sizing&) = delete;
  Sizing& operator=(const Sizing&) = delete;

  /// Returns the work of a node's local training steps, from step `first` on: forward and backward pass, and the
  /// optimizer's update. `samples`: samples of each step.
  world::Work training(std::span<const std::int64_t> samples, std::int64_t first) const;
  /// Returns the work of a training step without the update.
  world::Work gradient(std::int64_t samples, std::int64_t number) const;
  /// Returns the work of one forward pass over all samples.
  world::Work inference(std::int64_t samples) const;
  /// Returns the work of one step of the optimizer.
  world::Work update(step::Role who) const;
  /// Returns the work of arithmetic per parameter: `floats` numbers read or written, `flops` of arithmetic, `launches`
  /// kernels.
  world::Work per_parameter(step::Role who, double flops, double floats, double launches = 1) const;
  /// Returns the work of summing `count` models or gradients.
  world::Work sum(step::Role who, std::size_t count) const;
  /// Returns the work of encoding all parameters for the wire, and of decoding them; none without compression.
  world::Work encode(step::Role who, double times = 1) const;
  world::Work decode(step::Role who, double times = 1) const;
  /// Returns the work of a compressor other than the run's.
  world::Work encode_by(const spec::CompressSpec& compress, step::Role who) const;
  world::Work decode_by(const spec::CompressSpec& compress, step::Role who, double times) const;

  /// Returns the bytes of a message with a number per parameter, as the run's compressor encodes it.
  double compressed_bytes() const { return compressed_bytes_; }
  /// Returns the bytes of a message with a number per parameter, unencoded.
  double numbers_bytes() const { return plain_bytes_; }
  /// Returns the bytes of a model: parameters encoded by the run's compressor, running statistics unencoded.
  double model_bytes() const { return compressed_bytes_ + saved_bytes_; }
  /// Returns the bytes of an unencoded model.
  double plain_bytes() const { return plain_bytes_ + saved_bytes_; }
  /// Returns the share of all parameters in these pieces (indices of Learning::pieces()), and the bytes of a message
  /// with them. The message includes their share of the running statistics, encoded alike. If another network is timed,
  /// the bytes are that share of a message with all its parameters.
  double share_of(std::span<const std::size_t> pieces) const;
  double bytes_of(std::span<const std::size_t> pieces, const spec::CompressSpec& compress) const;
  /// Returns the number of parameters of the timed network.
  double parameters() const { return parameters_; }
  const TimedNetwork& timed() const { return timed_; }

 private:
  using SchedulePtr = std::shared_ptr<const schedule::Schedule>;
  SchedulePtr local_step(std::int64_t samples) const;
  world::Work whole(SchedulePtr schedule, step::Role who, double times = 1) const;
  SchedulePtr put_in(const step::StepStructure& structure, std::int64_t samples) const;
  SchedulePtr in_passes(std::int64_t samples) const;
  SchedulePtr per_parameter_schedule(step::Phase phase, step::Role who, const step::Work& work) const;
  double bytes_of(const compress::Compressor* compressor) const;

  const algorithms::LearningProblem problem_;
  spec::ModelShape learned_;
  TimedNetwork timed_;
  std::size_t matrices_ = 0;
  std::vector<double> pieces_;  ///< numbers of each piece
  std::vector<compress::Amount> amounts_;
  bool compresses_ = false;
  std::unique_ptr<compress::Compressor> compressor_;
  step::StepStructure local_step_;  ///< forward and backward pass, then the update
  double compressed_bytes_ = 0, plain_bytes_ = 0, saved_bytes_ = 0, parameters_ = 0;
  mutable std::map<std::int64_t, SchedulePtr> local_steps_, undivided_steps_;  ///< schedules by number of samples
  /// Schedules by kind of work, kept because Worlds identify schedules by their address.
  mutable std::map<std::string, SchedulePtr> per_parameter_;
};

/// Returns the work repeated `times` times.
world::Work repeated(world::Work work, double times);

/// Returns both works in sequence.
world::Work operator+(world::Work a, const world::Work& b);

}  // namespace dadsim::protocols
