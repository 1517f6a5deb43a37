#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocols/local/local_steps.hpp"
#include "protocols/send_later.hpp"

namespace dadsim::protocols {

/// Streaming DiLoCo, in the spirit of Douillard et al., arXiv 2501.18512: DiLoCo a part at a time. The model falls into
/// P fragments; piece k of Learning::pieces() (a matrix with its biases; all the rest) is of fragment k mod P. After
/// inner step t with t ≡ ⌊(p + 1) H / P⌋ mod H, each worker sends of fragment p
///   Δ_p = θ_p (the last that it has got) − θ_{i,p}
/// in four bits a number (compressor e3m0) and goes on training. The server takes a step of the outer optimizer with
/// the mean over workers, in fp32, and sends the new θ_p as plain numbers; τ inner steps after a worker has sent it
/// takes that in, and waits if it is not there yet:
///   θ_{i,p} ← α θ_{i,p} + (1 − α) θ_p
/// Our assumptions, where the paper was not at hand: the order of fragments and their offsets; the scale and rounding
/// of e3m0; the way over a server (there, all-reduce), and so plain numbers downwards; that at the end of training
/// every fragment is sent, so that no step is lost. Running statistics go with the last fragment and are averaged.
class StreamingDiLoCo final : public Protocol {
 public:
  static constexpr spec::IntegerParameter kFragments{"fragments", 1, 1e6, "3",
                                                     "parts of the model (P); as many as it has matrices at most"};
  static constexpr spec::IntegerParameter kDelay{
      "delay", 0, 1e9, "1",
      "inner steps from sending a fragment to taking in what has become of it "
      "(tau); 0: workers wait for it"};
  static constexpr spec::RealParameter kAlpha{"alpha", 0, 1, "0.5",
                                              "share of the worker's own weights when it takes in a fragment"};
  static constexpr auto kOuterGradients =
      spec::choice<bool>("outer-gradients", {{"e3m0", false}, {"compress", true}},
                         "e3m0: in four bits a number; compress: as <compress> of the run says");

  explicit StreamingDiLoCo(const Setting& setting);
  void begin() override;

 private:
  static constexpr world::Channel kFragment = "fragment";     ///< to workers, and news for them
  static constexpr world::Channel kOuter = "outer gradient";  ///< to the server; one without numbers asks for all
  static constexpr world::Channel kAll = "all fragments";     ///< to a worker that is back
  static world::Node node_of(std::size_t number) { return static_cast<world::Node>(number); }

  struct Fragment {
    std::vector<std::size_t> pieces, sizes;                   ///< which, and the numbers of each
    std::vector<std::pair<std::size_t, std::size_t>> ranges;  ///< in a row of weights: first, count
    std::size_t parameters = 0, numbers = 0;                  ///< numbers: with running statistics
    double share = 0;                                         ///< of the parameters
    double bytes_up = 0, bytes_down = 0;
    world::Value outer;      ///< θ_p, and the momentum of the outer optimizer behind it
    std::int64_t last = -1;  ///< number of the synchronisation that it is from; −1: the beginning
  };
  struct Worker {
    bool started = false;
    world::Value own;                ///< weights and the optimizer's state
    std::vector<world::Value> base;  ///< per fragment, the last θ_p that it has taken in
    std::vector<std::int64_t> have;  ///< and the number of the synchronisation that this is from; −1: the beginning
    std::map<std::size_t, std::pair<std::int64_t, world::Value>> arrived;  ///< per fragment, the last: number, θ_p
    std::vector<world::Value> memory;  ///< per fragment, what its compressor has lost
    // What the server knows.
    bool takes_part = false;
    std::int64_t since = -1;  ///< step
  };
  /// Synchronisations have numbers: step × fragments + fragment.
  struct Sync {
    std::vector<bool> awaited;
    std::vector<world::Value> differences;
  };
  struct Due {
    std::int64_t at = 0;  ///< step
    std::int64_t sync = 0;
  };

  void cut();
  std::size_t fragment_of(std::int64_t sync) const { return static_cast<std::size_t>(sync) % fragments_.size(); }
  std::int64_t name_of(std::int64_t step, std::size_t fragment) const {
    return step * static_cast<std::int64_t>(fragments_.size()) + static_cast<std::int64_t>(fragment);
  }
  std::int64_t step_of(std::int64_t sync) const { return sync / static_cast<std::int64_t>(fragments_.size()); }
  bool is_sent(std::size_t fragment, std::int64_t step) const;
  std::int64_t next_stop(std::int64_t step, const std::deque<Due>& open) const;

  world::Value taken_from(std::size_t fragment, const world::Value& weights) const;
  world::Value mixed(std::size_t fragment, const world::Value& own, const world::Value& theta, double alpha) const;
  world::Value theta(std::size_t fragment) const;
  world::Value whole() const;

  world::Task<> server();
  void heard(world::Parcel parcel);
  void contribution(std::size_t from, world::Parcel parcel);
  void joins(std::size_t number);
  void left(std::size_t number);
  void send_fragment(std::size_t fragment, std::size_t to);
  std::optional<std::int64_t> complete() const;
  world::Task<> finish(std::int64_t sync);

  world::Task<> worker(std::size_t number);
  world::Task<> ask_for_all(std::size_t number, std::int64_t& step);
  world::Task<> hear(std::size_t number, std::int64_t sync);
  world::Work take_in(std::size_t number, std::size_t fragment);
  void send_again(std::size_t number, world::Parcel parcel);
  world::Work sending_work(std::int64_t step) const;
  void send_difference(std::size_t number, std::size_t fragment, std::int64_t sync);

  Setting setting_;
  LocalSteps local_;
  OuterOptimizer outer_;
  std::int64_t delay_ = 0;
  double alpha_ = 0;
  spec::CompressSpec compress_;
  std::vector<Fragment> fragments_;
  std::vector<Worker> workers_;
  std::map<std::int64_t, Sync> open_;
  std::set<std::int64_t> done_;  ///< synchronisations of the last two periods, and those of the last step
  std::int64_t last_step_ = 0;   ///< of a synchronisation that anyone has begun
  std::size_t done_at_end_ = 0;  ///< fragments that the last step has been made of
  SendLater later_;
};

EventDrivenMethod streaming_diloco_method();

}  // namespace dadsim::protocols
