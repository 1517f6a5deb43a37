#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "step/step_recorder.hpp"

namespace dadsim::algorithms {

/// The result of a collective that is under way in the simulated world (here it has been carried out already). Taking
/// the data is what makes the compute stream wait.
template <class T>
class Pending {
 public:
  Pending() = default;
  /// `receive`, if any, is what the participants do with the data once it is there: decoding, combining.
  Pending(T data, step::StepRecorder& recorder, std::int32_t collective, step::Role who,
          std::function<void(T&)> receive = nullptr)
      : data_(std::move(data)),
        recorder_(&recorder),
        collective_(collective),
        who_(who),
        receive_(std::move(receive)) {}

  /// Records that the participants stand still here until the collective is done, and gives the data.
  T& wait() & {
    recorder_->add(step::WaitOp{who_, collective_});
    if (receive_) std::exchange(receive_, nullptr)(data_);
    return data_;
  }
  /// What was received, once it has been waited for.
  const T& data() const { return data_; }
  T wait() && { return std::move(wait()); }

 private:
  T data_{};
  step::StepRecorder* recorder_ = nullptr;
  std::int32_t collective_ = 0;
  step::Role who_ = step::Role::workers;
  std::function<void(T&)> receive_;
};

}  // namespace dadsim::algorithms
