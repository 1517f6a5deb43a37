#pragma once

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/document/load.hpp"
#include "study/composition/drawn_files.hpp"
#include "study/composition/drawn_scenario.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Returns the number of scenarios to draw: DADSIM_DRAWS if it is set, else the suite's number.
inline std::uint64_t draws(std::uint64_t in_the_suite) {
  const char* asked = std::getenv("DADSIM_DRAWS");
  return asked == nullptr ? in_the_suite : std::strtoull(asked, nullptr, 10);
}

/// Caches answers about the platform: each answer forks a process, and successive scenarios mostly share a platform.
class PlatformAnswers {
 public:
  /// Sets the platform of the scenario that is checked next.
  void set_platform(const test::Element& root) {
    platform_.clear();
    for (const test::Element& child : root.children) {
      if (child.name == "platform") platform_ += test::text_of(child);
    }
  }

  void remember(scenario::Catalog& catalog) {
    catalog.check_platform = [this, ask = catalog.check_platform](const Question& question) {
      return known(checked_, Asked{platform_, question.hosts, question.pairs}, [&] { return ask(question); });
    };
    catalog.hosts_of_platform = [this, ask = catalog.hosts_of_platform](const spec::PlatformSpec& platform) {
      return known(hosts_, platform_, [&] { return ask(platform); });
    };
    catalog.links_of_platform = [this, ask = catalog.links_of_platform](const spec::PlatformSpec& platform) {
      return known(links_, platform_, [&] { return ask(platform); });
    };
  }

 private:
  using Question = scenario::Catalog::PlatformQuestion;
  using Asked = std::tuple<std::string, decltype(Question::hosts), decltype(Question::pairs)>;

  template <class Key, class Answer, class Ask>
  Answer known(std::map<Key, Answer>& answers, const Key& key, const Ask& ask) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = answers.find(key); found != answers.end()) return found->second;
    }
    Answer answer = ask();
    const std::lock_guard lock(mutex_);
    return answers.emplace(key, std::move(answer)).first->second;
  }

  std::mutex mutex_;
  std::string platform_;
  std::map<Asked, scenario::Catalog::PlatformAnswer> checked_;
  std::map<std::string, std::vector<std::string>> hosts_;
  std::map<std::string, std::vector<scenario::Catalog::NamedLink>> links_;
};

/// Checks and runs drawn scenarios, as `dadsim --check` and `dadsim` would.
class Asking {
 public:
  Asking() {
    for (scenario::Catalog* catalog : {&catalog_, &without_learning_}) answers_.remember(*catalog);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  struct Checked {
    std::optional<scenario::Scenario> scenario;  ///< empty if the scenario was refused
    std::vector<Diagnostic> refused = {};
  };
  struct Ran {
    std::optional<report::Result> result;  ///< empty if the run failed
    std::string failed = {};
  };

  const scenario::Catalog& catalog() const { return catalog_; }
  std::string path() const { return files_.folder().path("drawn.xml"); }

  /// `times_alone`: checks as with --timing-only.
  Checked check(const test::Element& root, bool times_alone = false) const {
    files_.folder().write("drawn.xml", test::text_of(root));
    answers_.set_platform(root);
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
  mutable PlatformAnswers answers_;
};

}  // namespace dadsim::study
