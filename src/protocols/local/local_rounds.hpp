#pragma once

#include <cstdint>
#include <vector>

#include "protocols/local/local_steps.hpp"
#include "protocols/send_later.hpp"

namespace dadsim::protocols {

/// Local steps in rounds with a barrier: all workers train for some steps from the same weights θ, send Δ_i = θ − θ_i
/// through the run's compressor, and get the new θ when all of them have arrived, however late the last is. Δ is the
/// mean of the Δ_i, weighted by the samples of the round; what is made of it is the algorithm's.
///
/// A worker that goes down is not waited for; when it is back it takes part from the next round on, its optimizer begun
/// anew. What is lost on the way is sent again.
class LocalRounds : public Protocol {
 public:
  explicit LocalRounds(const Setting& setting);
  void begin() override;

 protected:
  /// Returns the local steps of the round that begins with step `first`.
  virtual std::int64_t steps_of_round(std::int64_t first) const;
  /// Returns the server's weights at the beginning, followed by its own state.
  virtual world::Value outer_begin(const world::Value& theta) { return theta; }
  /// Returns the server's weights after a round. Default: the mean, θ − Δ.
  virtual world::Value outer_step(const world::Value& outer, const world::Value& difference);
  /// Returns the server's work for outer_step(), in addition to decoding and adding up.
  virtual world::Work outer_work() const { return {}; }

  const Setting& setting() const { return setting_; }
  Learning& learning() const { return setting_.learning; }
  const LocalSteps& local() const { return local_; }

 private:
  struct LocalWorker {
    world::Value own;     ///< weights and optimizer's state, as it has trained them
    world::Value memory;  ///< its compressor's memory
    // The server's view of the present round.
    bool awaited = false;
    double asked_at = 0;
    world::Value difference;  ///< received difference
  };

  world::Task<> server();
  world::Task<> worker(std::size_t number);
  world::Task<> gather();
  void ask(std::size_t number);
  world::Value theta() const;

  Setting setting_;
  LocalSteps local_;
  std::vector<LocalWorker> workers_;
  world::Value outer_;
  std::int64_t next_ = 0;  ///< first step of the present round
  SendLater later_;
};

}  // namespace dadsim::protocols
