#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/leak/leak_meter.hpp"
#include "protocols/learning.hpp"
#include "step/leak.hpp"
#include "world/parcel.hpp"

namespace dadsim::protocols {

/// Feeds a LeakMeter with the messages of an event-driven run: is shown each as it leaves, and what sites train with;
/// what is measured becomes a Value of the History, worked out with all others. Messages are rows of the
/// numbers of a model or of a gradient; those that go on from one to the next (weights) are read by what is new in
/// them.
///
/// What a site has trained with between two of its messages is what the second is about, and what has been sent to a
/// server between two of its models is what the second of those is about.
///
/// Of many sites a sample is looked at, and measured as often as a share of the multiply-adds of training allows: a
/// message costs as much whatever the number of sites.
class MessageLeak final : public TrainingObserver {
 public:
  struct WatchSetting {
    world::Node server = -1;  ///< −1: none
    bool masked = false;      ///< secure aggregation: what is sent to a server shows nothing by itself
    std::int64_t every = 0;   ///< messages of a sender; 0: the first, and those of number 4, 16, 64 …
  };
  MessageLeak(Learning& learning, const WatchSetting& setting);

  void trained(std::size_t site, SiteBatches::How batches, std::int64_t first, std::int64_t steps,
               std::int64_t data_version) override;
  void sent(const world::Parcel& parcel);

  /// What is to be worked out.
  std::vector<world::Value> values() const;
  /// Once they have been.
  step::Leak result();

 private:
  struct Training {
    SiteBatches::How batches = SiteBatches::How::passes;
    std::int64_t first = 0, steps = 1, data_version = 0;
  };
  using Trainings = std::vector<Training>;
  /// A measurement of one message and one site.
  struct MeasuredMessage {
    algorithms::LeakMeter::MeasuredBatch batch = {};
    unsigned readers = 0;  ///< bits of step::Adversary
    double seconds = 0;
    world::Value reading = {};
  };

  bool is_due(std::int64_t number) const;
  std::vector<std::int32_t> samples_of(std::size_t site, const Trainings& trainings) const;
  /// A site of the sample.
  struct Looked {
    Trainings since_sent = {}, at_server = {};
    std::int64_t sent = 0;
    world::Value last = {};  ///< where its next message is measured
  };
  void look_at(std::size_t site);
  /// Whether a measurement may be paid for; one by each set of readers always is. Counts it then.
  bool affords(std::size_t s, unsigned readers);
  /// `s`: of the sample.
  void measure(const world::Parcel& parcel, std::int64_t number, std::size_t s, const Trainings& trainings,
               const world::Value& before, unsigned readers);
  bool exists(step::Adversary adversary) const;
  void read(const MeasuredMessage& measured, std::size_t adversary);

  Learning& learning_;
  WatchSetting setting_;
  models::Network network_;
  algorithms::LeakMeter meter_;
  const algorithms::SampleRows& rows_;
  std::size_t offset_ = 0, last_offset_ = 0;  ///< of the first and of the last matrix in a row of numbers
  Eigen::Index last_outputs_ = 0;
  double forward_macs_ = 0;                      ///< of a sample
  double trained_macs_ = 0, measured_macs_ = 0;  ///< so far: of all sites; of what is measured
  unsigned ever_measured_ = 0;                   ///< readers
  std::vector<Looked> looked_;                   ///< per site of the sample
  bool ever_sent_ = false;
  std::int64_t models_ = 0;
  world::Value last_model_;
  std::vector<MeasuredMessage> measured_;
  bool other_drift_ = false;  ///< something was trained with data that are not those that sites begin with
};

}  // namespace dadsim::protocols
