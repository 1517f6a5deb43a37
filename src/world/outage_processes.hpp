#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "spec/failure_specification.hpp"
#include "support/random.hpp"

namespace dadsim::world {

/// One reason for a host or link to be down: says one after the other when that changes. It draws no more than the next
/// change.
class OutageProcess {
 public:
  struct Change {
    double at = 0;  ///< seconds
    bool up = true;
  };
  virtual ~OutageProcess() = default;
  /// At time 0. To be asked once, before next().
  virtual bool begins_up() = 0;
  /// The change after the last one; none: it stays as it is.
  virtual std::optional<Change> next() = 0;
};

std::unique_ptr<OutageProcess> random_failures(const spec::RandomFailureSpec& spec, const RandomStream& random);
/// An outage that begins `later` seconds behind what `spec` says, once or again and again.
std::unique_ptr<OutageProcess> listed_outage(const spec::OutageSpec& spec, double later = 0);
/// `own`: of the host, by date.
std::unique_ptr<OutageProcess> listed_changes(std::vector<spec::AvailabilitySpec::Change> own);
std::unique_ptr<OutageProcess> profile_changes(const spec::StateProfileSpec& spec);
std::unique_ptr<OutageProcess> diurnal(const spec::AvailabilitySpec& spec, RandomStream random);
std::unique_ptr<OutageProcess> sessions(const spec::AvailabilitySpec& spec, const RandomStream& random);

/// Comes up an exponential time of mean `returns` after it has gone down, which others decide.
class DropOut final : public OutageProcess {
 public:
  DropOut(double probability, double returns, const RandomStream& random)
      : probability_(probability), returns_(returns), random_(random) {}
  bool begins_up() override { return true; }
  std::optional<Change> next() override;
  /// Whether it goes down in the computation of so many seconds that begins now, and if so, when.
  std::optional<double> within(double now, double seconds);

 private:
  double probability_, returns_;
  RandomStream random_;
  double down_at_ = 0;
  bool down_ = false;
};

}  // namespace dadsim::world
