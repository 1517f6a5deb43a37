#include "study/sweep/shared_sweep.hpp"

#include <memory>
#include <utility>

#include "api/call.hpp"
#include "api/overrides.hpp"
#include "api/states.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/piece.hpp"
#include "support/input_files.hpp"

namespace dadsim::api::inline v1 {

struct SharedSweep::State {
  study::SharedSweep sweep;
  std::string file;
  std::vector<std::string> files;
};

SharedSweep::SharedSweep(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

SharedSweep SharedSweep::open(const std::string& path, const std::string& file, const Settings& settings,
                              const Options& options) {
  std::shared_ptr<State> state;
  as_a_call(options, [&] {
    study::SweepPoints points(path, overrides_of(settings), study::make_catalog(), static_cast<bool>(options.progress));
    state = std::make_shared<State>(State{study::SharedSweep(std::move(points), file), file, noted_inputs()});
  });
  return SharedSweep(std::move(state));
}

std::size_t SharedSweep::trials() const noexcept { return state_->sweep.trials(); }
const std::vector<std::size_t>& SharedSweep::batches() const noexcept { return state_->sweep.batches(); }
const std::vector<std::string>& SharedSweep::files() const noexcept { return state_->files; }

std::string SharedSweep::piece(std::size_t batch, std::size_t first, std::size_t count, bool learn_only) const {
  return state_->sweep.piece(batch, first, count, learn_only);
}

void SharedSweep::take(const std::string& results, const std::string& from) {
  with_errors_of_ours([&] { state_->sweep.take(results, from); });
}

Sweep SharedSweep::finish() {
  std::shared_ptr<Sweep::State> swept;
  with_errors_of_ours([&] {
    state_->sweep.finish();
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
