#include "compress/memory.hpp"

#include <utility>

namespace dadsim::compress {

models::Matrix ErrorMemory::add(models::Matrix gradient) {
  if (error_.size() > 0) gradient += error_;
  return gradient;
}

void ErrorMemory::keep(models::Matrix wanted, const models::Matrix& arrived) {
  error_ = std::move(wanted);
  error_ -= arrived;
}

models::Matrix MomentumMemory::add(models::Matrix gradient) {
  if (velocity_.size() == 0) {
    velocity_.setZero(gradient.rows(), gradient.cols());
    sum_ = velocity_;
  }
  if (const float norm = gradient.norm(); options_.clip > 0 && norm > options_.clip) gradient *= options_.clip / norm;
  if (options_.nesterov) {
    velocity_ = options_.momentum * (velocity_ + gradient);
    sum_ += velocity_ + gradient;
  } else {
    velocity_ = options_.momentum * velocity_ + gradient;
    sum_ += velocity_;
  }
  return sum_;
}

void MomentumMemory::keep(models::Matrix, const models::Matrix& arrived) {
  const auto waits = (arrived.array() == 0.0F).cast<float>();
  if (options_.masking) velocity_.array() *= waits;
  sum_.array() *= waits;
}

}  // namespace dadsim::compress
