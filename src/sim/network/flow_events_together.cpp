// Collectives that follow one another, all messages of all of them.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "sim/network/flow_events.hpp"
#include "sim/network/round_messages.hpp"

namespace dadsim::sim {

void FlowEvents::run_together(std::span<const collectives::Rounds* const> sequence, const Begins& begins) {
  classes_ = nullptr;
  sequence_ = &begins;
  followed_ = all_ranks(*sequence.front());
  skip_from_ = std::numeric_limits<std::int64_t>::max();
  marks_.clear();
  clear(followed_.size());
  now_ = -std::numeric_limits<double>::infinity();
  // Ranks have no states in one that none of them has come to.
  for (const collectives::Rounds* rounds : sequence) courses_.push_back(course_of(*rounds, rounds->count(), 0));
  for (const collectives::Rank rank : followed_) begin(0, rank, {});
  go_on();
  if (std::ranges::any_of(courses_, [](const Course& course) { return course.ranks_left > 0; }))
    throw std::logic_error("a rank waits for a message that nobody sends");
  sequence_ = nullptr;
}

void FlowEvents::begin(std::size_t number, collectives::Rank rank, const Moment& through) {
  const Moment begins = (*sequence_)(rank, number, through);
  if (number == courses_.size()) return;
  Course& course = courses_[number];
  expect(course);
  const std::int32_t first = rank * course.lanes;
  for (std::int32_t of = first; of < first + course.lanes; ++of) {
    State& state = course.states[static_cast<std::size_t>(of)];
    state.date = begins.date + course.rounds->start_seconds();
    state.cause = begins.cause;
    state.begun = true;
  }
  for (std::int32_t of = first; of < first + course.lanes; ++of) advance(static_cast<std::int32_t>(number), of);
}

/// The first rank, or message, comes to it.
void FlowEvents::expect(Course& course) {
  if (!course.states.empty()) return;
  course.states.resize(followed_.size() * static_cast<std::size_t>(course.lanes));
  course.lanes_left.assign(followed_.size(), course.lanes);
  course.ranks_left = followed_.size();
}

void FlowEvents::finish(std::int32_t number, std::int32_t of) {
  Course& course = courses_[static_cast<std::size_t>(number)];
  const std::int32_t rank = of / course.lanes;
  if (--course.lanes_left[static_cast<std::size_t>(rank)] > 0) return;
  Moment through;
  for (std::int32_t lane = 0; lane < course.lanes; ++lane) {
    const State& state = course.states[static_cast<std::size_t>(rank * course.lanes + lane)];
    if (lane == 0 || state.date > through.date) through = {state.date, state.cause};
  }
  if (--course.ranks_left == 0) std::vector<State>().swap(course.states);  // nobody comes back to it
  begin(static_cast<std::size_t>(number) + 1, rank, through);
}

}  // namespace dadsim::sim
