#include <memory>
#include <string>
#include <string_view>

#include "api/call.hpp"
#include "api/states.hpp"
#include "report/html/page.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/run.hpp"
#include "study/sweep/sweep_document.hpp"
#include "study/sweep/sweep_points.hpp"
#include "support/build.hpp"
#include "support/interrupt.hpp"
#include "support/version.hpp"

namespace dadsim::api::inline v1 {

Learned::Learned() : state_(std::make_shared<State>()) {}
std::size_t Learned::size() const { return state_->store.runs().size(); }

Learned learn(const Scenario& scenario, const Options& options, const Learned& learned) {
  as_a_call(options, [&] {
    study::learn_scenario(scenario.state().scenario, &learned.state().store, static_cast<bool>(options.progress));
  });
  return learned;
}

Result time(const Scenario& scenario, const Learned& learned, const Options& options) {
  std::unique_ptr<Result> result;
  as_a_call(options, [&] {
    result = std::make_unique<Result>(result_of(
        study::run_experiment(scenario.state().scenario, static_cast<bool>(options.progress), &learned.state().store)));
  });
  return *result;
}

Result run(const Scenario& scenario, const Options& options) { return time(scenario, Learned(), options); }

Sweep sweep(const std::string& path, const std::string& file, const Settings& settings, const Options& options) {
  std::shared_ptr<Sweep::State> state;
  as_a_call(options, [&] {
    study::SweepOptions asked;
    asked.threads = threads_of(options);
    asked.show_progress = static_cast<bool>(options.progress);
    const study::SweepPoints points(path, overrides_of(settings), study::make_catalog(), asked.show_progress);
    const study::Shard all;
    const std::unique_ptr<study::Database> database = study::open_sweep(file, points, all);
    study::run_sweep(points, *database, all, asked);
    state = std::make_shared<Sweep::State>(*database);
    database->close();
  });
  return Sweep(std::move(state));
}

Sweep::Sweep(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
std::size_t Sweep::points() const noexcept { return state_->points; }
std::size_t Sweep::failed() const noexcept { return state_->failed; }

Sweep::State::State(study::Database& database)
    : points(static_cast<std::size_t>(database.number("SELECT COUNT(*) FROM point").value_or(0))),
      failed(
          static_cast<std::size_t>(database.number("SELECT COUNT(*) FROM trial WHERE status = 'failed'").value_or(0))),
      file(database.path()) {
  if (study::count_runs(database) <= study::kMostRunsShown) results = study::read_results(database);
}

std::string Sweep::csv() const {
  if (state_->results) return sweep_csv(*state_->results);
  std::string csv;
  with_errors_of_ours([&] {
    study::Database database(state_->file, study::Database::Access::read);
    study::write_sweep_csv(database, [&csv](std::string_view part) { csv += part; });
  });
  return csv;
}

namespace {

report::Document document_of(const Sweep::State& state, bool for_page) {
  if (state.results) return document_of(*state.results);
  report::Document document;
  with_errors_of_ours([&] {
    study::Database database(state.file, study::Database::Access::read);
    document = study::document_of_file(database, for_page);
  });
  return document;
}

}  // namespace

std::string Sweep::table() const { return to_table(document_of(*state_, false)); }
std::string Sweep::html() const { return to_html(document_of(*state_, true)); }

void stop() noexcept { set_interrupted(true); }

std::string version() { return kVersion; }
std::string build() {
  std::string result;
  with_errors_of_ours([&] { result = dadsim::build(); });
  return result;
}

}  // namespace dadsim::api::inline v1
