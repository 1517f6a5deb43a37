#include "compress/compressor.hpp"

#include <utility>

#include "compress/compressors.hpp"

namespace dadsim::compress {

models::Matrix ErrorMemory::add(models::Matrix gradient) {
  if (error_.size() > 0) gradient += error_;
  return gradient;
}

void ErrorMemory::keep(models::Matrix wanted, const models::Matrix& arrived) {
  error_ = std::move(wanted);
  error_ -= arrived;
}

models::Matrix EstimateMemory::add(models::Matrix gradient) {
  if (estimate_.size() == 0) estimate_.setZero(gradient.rows(), gradient.cols());
  gradient -= estimate_;
  return gradient;
}

void EstimateMemory::keep(models::Matrix, const models::Matrix& arrived) { estimate_ += arrived; }

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

namespace {

constexpr double kBillion = 1e9;

}  // namespace

std::optional<step::Work> Compressor::decode_into_sum_work(const step::Expression&, const Amount&) const {
  return std::nullopt;
}

step::Work Compressor::memory_work(const Amount& numbers) const {
  // M = G + E and E = M − the arrived matrix each read two numbers and write one.
  step::Work work = decode_work(numbers);
  work.flops += 2.0 * numbers.elements;
  work.bytes_moved += 6.0 * kFloatBytes * numbers.elements;
  work.launches += 2.0;
  return work;
}

std::int32_t share_of(std::int64_t kept, std::int64_t elements) {
  // Rounds the share down. Share × elements ÷ 10⁹ is then less than one below `kept` (for fewer than 10⁹ elements), and
  // rounding up restores `kept`.
  if (elements <= 0) return 0;
  return static_cast<std::int32_t>(kept * 1'000'000'000 / elements);
}

step::Expression kept_of(const step::Expression& share, const step::Expression& elements) {
  return step::extent::ceil((1.0 / kBillion) * share * elements);
}

}  // namespace dadsim::compress
