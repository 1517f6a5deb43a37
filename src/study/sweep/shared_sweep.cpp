#include "study/sweep/shared_sweep.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "study/sweep/merge.hpp"
#include "study/sweep/piece.hpp"

namespace dadsim::study {

SharedSweep::SharedSweep(SweepPoints points, std::string file)
    : points_(std::move(points)),
      file_(std::move(file)),
      database_(open_sweep(file_, points_, {})),
      identity_(identity_of(points_, {})),
      batches_(open_batches(points_, *database_, {})) {
  for (const SweepBatch& batch : batches_) sizes_.push_back(batch.points.size());
}

std::size_t SharedSweep::trials() const { return points_.points().size() * static_cast<std::size_t>(points_.seeds()); }

std::string SharedSweep::piece(std::size_t batch, std::size_t first, std::size_t count, bool learn_only) const {
  std::vector<SweepTrial> trials;
  for (const std::size_t wanted = learn_only ? 1 : count; trials.size() < wanted; ++batch) {
    const SweepBatch& of = batches_.at(batch);
    for (; first < of.points.size() && trials.size() < wanted; ++first)
      trials.push_back({static_cast<std::int64_t>(of.points[first]) + 1, of.seed});
    first -= std::min(first, of.points.size());  // in the batches behind it
  }
  return to_bytes(piece_of(points_, identity_, trials, learn_only));
}

void SharedSweep::take(const std::string& results, const std::string& from) {
  if (database_ == nullptr) throw std::logic_error("a sweep that has been finished takes no more results");
  take_piece(*database_, identity_, results, from);
}

std::int64_t SharedSweep::done() { return database_->number("SELECT COUNT(*) FROM trial").value_or(0); }

void SharedSweep::finish() {
  if (database_ == nullptr) throw std::logic_error("a sweep is finished once");
  const bool complete = done() == static_cast<std::int64_t>(trials());
  database_->close();
  database_.reset();
  if (complete) put_in_order(file_);
}

}  // namespace dadsim::study
