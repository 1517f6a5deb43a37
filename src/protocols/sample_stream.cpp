#include "protocols/sample_stream.hpp"

#include <algorithm>

namespace dadsim::protocols {

std::vector<std::size_t> SampleStream::next(std::size_t count) const {
  std::vector<std::size_t> places(std::min(count, left_.size()));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = left_[(at_ + i) % left_.size()];
  return places;
}

void SampleStream::pass(std::int64_t count) {
  at_ = (at_ + static_cast<std::size_t>(count % static_cast<std::int64_t>(left_.size()))) % left_.size();
}

void SampleStream::withdraw(const std::vector<std::size_t>& places) {
  if (spent_) return;
  const auto is_withdrawn = [&](std::size_t place) { return std::ranges::find(places, place) != places.end(); };
  const auto here = left_.begin() + static_cast<std::ptrdiff_t>(at_);
  at_ -= static_cast<std::size_t>(std::count_if(left_.begin(), here, is_withdrawn));
  std::erase_if(left_, is_withdrawn);
  withdrawn_.insert(withdrawn_.end(), places.begin(), places.end());
  if (left_.empty()) {
    spent_ = true;
    left_ = std::move(withdrawn_);
  }
  at_ %= left_.size();
}

}  // namespace dadsim::protocols
