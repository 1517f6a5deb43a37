#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "api/call.hpp"
#include "api/overrides.hpp"
#include "api/states.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/merge.hpp"
#include "study/sweep/open_sweep.hpp"
#include "study/sweep/piece.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/run.hpp"
#include "support/input_files.hpp"

namespace dadsim::api::inline v1 {

struct SharedSweep::State {
  State(study::SweepPoints of, std::string path) : points(std::move(of)), file(std::move(path)) {}
  study::SweepPoints points;
  std::string file;
  std::unique_ptr<study::Database> database;
  study::SweepIdentity identity;
  std::vector<study::SweepBatch> batches;
  std::vector<std::size_t> sizes;
  std::vector<std::string> files;
};

SharedSweep::SharedSweep(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

SharedSweep SharedSweep::open(const std::string& path, const std::string& file, const Settings& settings,
                              const Options& options) {
  std::shared_ptr<State> state;
  as_a_call(options, [&] {
    state = std::make_shared<State>(
        study::SweepPoints(path, overrides_of(settings), study::make_catalog(), static_cast<bool>(options.progress)),
        file);
    state->database = study::open_sweep(file, state->points, {});
    state->identity = study::identity_of(state->points, {});
    state->batches = study::open_batches(state->points, *state->database, {});
    for (const study::SweepBatch& batch : state->batches) state->sizes.push_back(batch.points.size());
    state->files = noted_inputs();
  });
  return SharedSweep(std::move(state));
}

std::size_t SharedSweep::trials() const noexcept {
  return state_->points.points().size() * static_cast<std::size_t>(state_->points.seeds());
}
const std::vector<std::size_t>& SharedSweep::batches() const noexcept { return state_->sizes; }
const std::vector<std::string>& SharedSweep::files() const noexcept { return state_->files; }

std::string SharedSweep::piece(std::size_t batch, std::size_t first, std::size_t count, bool learn_only) const {
  std::vector<study::SweepTrial> trials;
  for (const std::size_t wanted = learn_only ? 1 : count; trials.size() < wanted; ++batch) {
    if (batch >= state_->batches.size()) throw std::out_of_range("there are not so many trials");
    const study::SweepBatch& of = state_->batches[batch];
    for (; first < of.points.size() && trials.size() < wanted; ++first)
      trials.push_back({static_cast<std::int64_t>(of.points[first]) + 1, of.seed});
    first -= std::min(first, of.points.size());  // in the batches behind it
  }
  return to_bytes(study::piece_of(state_->points, state_->identity, trials, learn_only));
}

void SharedSweep::take(const std::string& results, const std::string& from) {
  with_errors_of_ours([&] {
    if (state_->database == nullptr) throw std::logic_error("a sweep that has been finished takes no more results");
    study::take_piece(*state_->database, state_->identity, results, from);
  });
}

Sweep SharedSweep::finish() {
  std::shared_ptr<Sweep::State> swept;
  with_errors_of_ours([&] {
    if (state_->database == nullptr) throw std::logic_error("a sweep is finished once");
    const std::int64_t done = state_->database->number("SELECT COUNT(*) FROM trial").value_or(0);
    state_->database->close();
    state_->database.reset();
    if (done == static_cast<std::int64_t>(trials())) study::put_in_order(state_->file);
    study::Database whole(state_->file, study::Database::Access::read);
    swept = std::make_shared<Sweep::State>(whole);
  });
  return Sweep(std::move(swept));
}

std::string do_piece(const std::string& path, const std::string& piece, const std::string& learned,
                     const Options& options) {
  std::string results;
  as_a_call(options,
            [&] { results = study::do_piece(path, study::piece_from_bytes(piece), learned, threads_of(options)); });
  return results;
}

}  // namespace dadsim::api::inline v1
