#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "protocols/learning.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Samples that a sensor sees, in order and repeatedly, as indices of its data. Withdrawn samples are skipped: the
/// model has trained on them, and its higher confidence would look like drift. Once all are withdrawn, all come again,
/// and is_spent() returns true.
class SampleStream {
 public:
  SampleStream() = default;
  /// `places`: indices in the order in which samples come; at least one.
  explicit SampleStream(std::vector<std::size_t> places) : left_(std::move(places)) {}

  /// Returns the places of the next `count` samples, each once; fewer if fewer are left.
  std::vector<std::size_t> next(std::size_t count) const;
  void pass(std::int64_t count);
  void withdraw(const std::vector<std::size_t>& places);
  /// Returns true if the next samples have been withdrawn before.
  bool is_spent() const { return spent_; }

 private:
  std::vector<std::size_t> left_, withdrawn_;
  std::size_t at_ = 0;  ///< index of the next place in `left_`
  bool spent_ = false;
};

/// Returns the Kolmogorov–Smirnov distance between two samples: sup |F_a − F_b|, with equal values of both taken
/// together. Both must be in rising order, and neither empty.
double ks_distance(std::span<const double> a, std::span<const double> b);
/// Returns the distance that two samples of one distribution exceed with a probability of about `level` (asymptotic,
/// two-sided): √(−½ ln(level ÷ 2)) √((m + n) ÷ (m n)). For distributions with steps the probability is smaller.
double ks_threshold(std::size_t m, std::size_t n, double level);
/// Returns `count` quantiles at (k + ½) ÷ count, in rising order; if there are at most `count` values, returns these.
std::vector<double> quantiles(std::vector<double> values, std::size_t count);

/// Computations of FLARE's client and sensors. Rows are samples of the training set, including drifted ones.
class FlareNumbers {
 public:
  explicit FlareNumbers(Learning& learning) : learning_(learning) {}

  /// Returns the rows of one tick of training, as many as `steps` batches hold: drawn uniformly from `pool`.
  std::vector<std::int32_t> draw(const std::vector<std::int32_t>& pool, std::int64_t first, std::int64_t steps) const;
  /// Returns the weights and optimizer's state after training on these rows, a batch at a time.
  world::Value train(const world::Value& weights_with_state, std::vector<std::int32_t> rows, std::int64_t first);
  /// Returns scalars: the mean loss over the rows, then for each row the largest softmax probability (for samples with
  /// many labels, its mean over the labels).
  world::Value look(const world::Value& weights_with_state, std::vector<std::int32_t> rows);

  double loss(const world::Value& weights_with_state, std::vector<std::int32_t> rows) {
    return learning_.history().get(look(weights_with_state, std::move(rows)))->scalars.front();
  }
  /// Returns the largest softmax probability of each row, in rising order.
  std::vector<double> confidences(const world::Value& weights_with_state, std::vector<std::int32_t> rows);

 private:
  Learning& learning_;
};

/// FLARE's two schedulers, or fixed intervals in their place. The aggregator is the client, which trains on a part
/// (`held`) of every worker's samples, with labels. Workers are its sensors; each infers on its samples in order.
///
/// Only the abstract of arXiv 2305.08504 could be read ("conditional on the training behaviour and inference
/// statistics, respectively"). Assumptions:
/// - Client: after every tick of `local-steps` batches, d is the loss on the tick's samples − the loss on held-back
///   samples, and σ the standard deviation of the last `window` values of d. The client is UNSTABLE at first, and again
///   once σ exceeds β times its value at the last deployment. Training has settled when the training loss no longer
///   falls (its mean over the later half of the window is at least 1 − `tolerance` of its mean over the earlier half)
///   and, if UNSTABLE, σ ≤ α × the largest σ since the client rested; at the earliest two windows after new samples
///   arrived, at the latest after `patience` ticks. The client then rests until samples arrive. If it was UNSTABLE, it
///   sends the model to all sensors, each with `quantiles` quantiles of the model's confidences on the sensor's
///   held-back samples. Otherwise, sensors that have sent samples get new quantiles for the model that they have.
/// - Sensor: computes confidences (largest softmax probabilities) for windows of `samples` samples. If a
///   Kolmogorov–Smirnov test of `level` rejects that they have the distribution of the quantiles (n = number of samples
///   that the quantiles come from), the sensor uploads the window's samples, and skips the next window. Windows do not
///   overlap, and uploaded samples do not come again. An upload is labelled when it arrives. The client trains with one
///   part of it; the other part replaces the sensor's held-back samples.
/// - fixed: sensors upload the last `samples` samples every `upload-every` seconds; the client sends its model every
///   `deploy-every` seconds, whether or not it is better.
class FlareProtocol final : public Protocol {
 public:
  static constexpr auto kSchedule = spec::choice<bool>("schedule", {{"dual", false}, {"fixed", true}},
                                                       "dual: training decides when to send models, confidences decide "
                                                       "when to upload samples; fixed: both at intervals");
  static constexpr spec::RealParameter kDuration{"duration", 1, 1e9, "3600", "seconds to simulate"};
  static constexpr spec::RealParameter kInterval{"interval", 1e-6, 1e6, "0.1",
                                                 "seconds between two samples of a sensor"};
  static constexpr spec::IntegerParameter kSamples{"samples", 10, 100000, "100",
                                                   "samples per window of confidences, and per upload (m)"};
  static constexpr spec::IntegerParameter kQuantiles{"quantiles", 10, 100000, "100",
                                                     "quantiles of confidences sent with a model (K)"};
  static constexpr spec::RealParameter kLevel{"level", 1e-9, 0.5, "0.05",
                                              "level of the Kolmogorov-Smirnov test of confidences"};
  static constexpr spec::RealParameter kPhi{
      "phi", 0, 1, "0", "distance of confidences that triggers an upload; 0: the critical distance of the test"};
  static constexpr spec::RealParameter kHeld{"held", 0.01, 0.95, "0.5",
                                             "share of a client's samples that it has from the beginning"};
  static constexpr spec::RealParameter kValidation{"validation", 0.05, 0.9, "0.3",
                                                   "share of a client's samples that it holds back for validation"};
  static constexpr spec::IntegerParameter kLocalSteps{"local-steps", 1, 1e6, "5",
                                                      "batches of a client between two checks of its training"};
  static constexpr spec::IntegerParameter kWindow{
      "window", 2, 10000, "10", "checks per window, over which the spread of the loss is measured (w)"};
  static constexpr spec::RealParameter kAlpha{
      "alpha", 0.01, 1, "0.25", "stable: largest allowed spread ÷ the largest spread since training last settled"};
  static constexpr spec::RealParameter kBeta{"beta", 1, 1000, "1.5",
                                             "unstable: smallest spread ÷ the spread at the last deployment"};
  static constexpr spec::RealParameter kTolerance{
      "tolerance", 0, 1, "0.02", "stable: largest fall of the training loss within a window, as a share"};
  static constexpr spec::IntegerParameter kPatience{"patience", 1, 1e6, "200",
                                                    "checks after which training counts as settled, or as unchanged"};
  static constexpr spec::RealParameter kUploadEvery{"upload-every", 1e-3, 1e9, "600",
                                                    "fixed: seconds between uploads of a sensor"};
  static constexpr spec::RealParameter kDeployEvery{"deploy-every", 1e-3, 1e9, "600",
                                                    "fixed: seconds between deployments"};
  static constexpr spec::RealParameter kSampleBytes{"sample-bytes", 0, 1e12, "0",
                                                    "bytes of a raw sample; 0: four per value"};

  explicit FlareProtocol(const Setting& setting);
  void begin() override;

 private:
  struct Upload {
    std::size_t sensor = 0;
    std::vector<std::size_t> places;  ///< places in the sensor's partition, each once
    std::vector<std::int32_t> rows;   ///< rows of the training set
    std::int64_t version = 0;         ///< version of the sensor's data; −1: several
    double last_sample = 0;           ///< date at which the last sample came, seconds
  };
  /// Values sent to a sensor.
  struct Deployment {
    world::Value model;  ///< weights with the optimizer's state, which is not sent
    std::vector<double> quantiles;
    std::size_t held_back = 0;  ///< number of samples that the quantiles come from
    std::int64_t version = 0;   ///< version of these samples' data
  };
  struct Sensor {
    SampleStream stream;
    std::map<std::int64_t, Deployment> coming;  ///< deployments under way, by number of the message
    std::optional<Deployment> deployed;
    std::vector<std::int32_t> held_back;
    std::int64_t held_back_version = 0;
    bool has_sent = false;     ///< has sent samples since its last quantiles
    std::size_t detected = 0;  ///< number of its drifts that an upload has detected
  };

  world::Task<> client();
  world::Task<> deployer();
  world::Task<> sensor(std::size_t number);
  world::Task<> clock();

  void take_in(const world::Parcel& parcel);
  void tick();
  void deploy();
  void deploy_to(std::size_t number, bool with_model);
  void take_over(std::size_t number, const world::Parcel& model);
  Upload window_of(std::size_t number, double begin) const;
  void look_at_window(std::size_t number, const Upload& window);
  void upload(std::size_t number, const Upload& window);
  world::Work inference(std::size_t samples) const;
  std::vector<std::int32_t> held_back() const;
  double accuracy(double seconds);
  bool fixed() const { return setting_.value(kSchedule); }
  std::size_t samples() const { return static_cast<std::size_t>(setting_.value(kSamples)); }

  Setting setting_;
  FlareNumbers numbers_;
  std::vector<Sensor> sensors_;
  std::map<std::int64_t, Upload> uploads_;              ///< uploads under way, by number of the message
  std::int64_t last_upload_ = 0, last_deployment_ = 0;  ///< numbers of the last messages

  // The client.
  bool resting_ = false, unstable_ = true;
  std::vector<std::int32_t> pool_;  ///< rows that the client trains with
  world::Value weights_;            ///< weights and the optimizer's state
  world::Value deployed_;
  std::vector<double> differences_, losses_;  ///< d and training loss of the last ticks
  double deployed_spread_ = 0, largest_spread_ = 0;
  std::int64_t ticks_ = 0;        ///< ticks since the client rested
  std::int64_t undisturbed_ = 0;  ///< ticks since samples arrived
  std::int64_t batches_ = 0;      ///< number of batches trained so far
  std::vector<std::int32_t> tick_rows_;

  std::int64_t tested_ = 0, tested_clean_ = 0, false_alarms_ = 0, untested_ = 0, detections_ = 0;
  double latency_seconds_ = 0, latency_samples_ = 0;
};

}  // namespace dadsim::protocols
