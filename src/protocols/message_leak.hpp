#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/leak/leak_meter.hpp"
#include "protocols/learning.hpp"
#include "step/leak.hpp"
#include "world/parcel.hpp"

namespace dadsim::protocols {

/// Feeds a LeakMeter with the messages of an event-driven run as they are sent, and with the samples that sites train
/// with. Measurements are Values of the History. Messages hold a model or a gradient as a row of numbers. Consecutive
/// models of a sender are subtracted, and the difference is measured.
///
/// A site's message reveals the samples that the site has trained with since its previous message. A server's model
/// reveals the messages to the server since its previous model.
///
/// Only a sample of the sites is observed, and the multiply-adds of measurements are limited to a share of training's.
/// The cost per message does not depend on the number of sites.
class MessageLeak final : public TrainingObserver {
 public:
  struct WatchSetting {
    world::Node server = -1;  ///< node of the server; −1: none
    bool masked = false;      ///< secure aggregation: a single message to the server reveals nothing
    std::int64_t every = 0;  ///< interval of measured messages, per sender; 0: messages 0, 4, 16, 64 …, counted from 0
  };
  MessageLeak(Learning& learning, const WatchSetting& setting);

  void trained(std::size_t site, SiteBatches::How batches, std::int64_t first, std::int64_t steps,
               std::int64_t data_version) override;
  void sent(const world::Parcel& parcel);

  /// Returns the values that result() needs.
  std::vector<world::Value> values() const;
  /// Returns the measured leaks. The caller must compute values() first.
  step::Leak result();

 private:
  struct Training {
    SiteBatches::How batches = SiteBatches::How::passes;
    std::int64_t first = 0, steps = 1, data_version = 0;
  };
  using Trainings = std::vector<Training>;
  /// Measurement of one message, for one site.
  struct MeasuredMessage {
    algorithms::LeakMeter::MeasuredBatch batch = {};
    unsigned readers = 0;  ///< readers of the message, bits of step::Adversary
    double seconds = 0;
    world::Value reading = {};
  };

  bool is_due(std::int64_t number) const;
  std::vector<std::int32_t> samples_of(std::size_t site, const Trainings& trainings) const;
  /// A site in the sample.
  struct Looked {
    Trainings since_sent = {}, at_server = {};
    std::int64_t sent = 0;
    world::Value last = {};  ///< weights to subtract from its next message
  };
  void look_at(std::size_t site);
  /// Returns true, and counts the measurement, if the budget allows it. Always allowed: the first measurement for each
  /// reader, and all with `every` above 0.
  bool affords(std::size_t s, unsigned readers);
  /// Measures a message. `s`: index among the sampled sites.
  void measure(const world::Parcel& parcel, std::int64_t number, std::size_t s, const Trainings& trainings,
               const world::Value& before, unsigned readers);
  bool exists(step::Adversary adversary) const;
  void read(const MeasuredMessage& measured, std::size_t adversary);

  Learning& learning_;
  WatchSetting setting_;
  models::Network network_;
  algorithms::LeakMeter meter_;
  const algorithms::SampleRows& rows_;
  std::size_t offset_ = 0, last_offset_ = 0;  ///< offsets of the matrix rows_.matrix() and of the last matrix in a row
                                              ///< of numbers
  Eigen::Index last_outputs_ = 0;
  double forward_macs_ = 0;                      ///< multiply-adds of a forward pass per sample
  double trained_macs_ = 0, measured_macs_ = 0;  ///< multiply-adds so far, of training at all sites and of measurements
  unsigned ever_measured_ = 0;                   ///< readers with a measurement, bits of step::Adversary
  std::vector<Looked> looked_;                   ///< state of each sampled site
  bool ever_sent_ = false;
  std::int64_t models_ = 0;
  world::Value last_model_;
  std::vector<MeasuredMessage> measured_;
  bool other_drift_ = false;  ///< true: a site has trained with other data than its initial data
};

}  // namespace dadsim::protocols
