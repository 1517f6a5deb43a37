#pragma once

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/document/load.hpp"
#include "study/composition/drawn_files.hpp"
#include "study/composition/drawn_scenario.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// How many scenarios a test draws: some in the suite, and with DADSIM_DRAWS as many as it says.
inline std::uint64_t draws(std::uint64_t in_the_suite) {
  const char* asked = std::getenv("DADSIM_DRAWS");
  return asked == nullptr ? in_the_suite : std::strtoull(asked, nullptr, 10);
}

/// Checks and runs drawn scenarios, as `dadsim --check` and `dadsim` would.
class Asking {
 public:
  struct Checked {
    std::optional<scenario::Scenario> scenario;  ///< none: refused
    std::vector<Diagnostic> refused = {};
  };
  struct Ran {
    std::optional<report::Result> result;  ///< none: failed
    std::string failed = {};
  };

  const scenario::Catalog& catalog() const { return catalog_; }
  std::string path() const { return files_.folder().path("drawn.xml"); }

  /// `times_alone`: as with --timing-only.
  Checked check(const test::Element& root, bool times_alone = false) const {
    files_.folder().write("drawn.xml", test::text_of(root));
    try {
      scenario::Scenario scenario = scenario::load_scenario(path(), {}, times_alone ? without_learning_ : catalog_);
      scenario.timing_only = scenario.timing_only || times_alone;
      return {std::move(scenario), {}};
    } catch (const InputError& error) {
      return {std::nullopt, error.diagnostics()};
    }
  }

  static Ran run(const scenario::Scenario& scenario) {
    try {
      return {run_experiment(scenario, false), {}};
    } catch (const std::exception& error) {
      return {std::nullopt, error.what()};
    }
  }

 private:
  test::DrawnFiles files_;
  scenario::Catalog catalog_ = make_catalog();
  scenario::Catalog without_learning_ = make_catalog_without_learning();
};

}  // namespace dadsim::study
