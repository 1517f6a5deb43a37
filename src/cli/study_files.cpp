#include "cli/study_files.hpp"

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/print.hpp"
#include "support/atomic_file.hpp"

namespace dadsim::cli {

namespace po = boost::program_options;

void StudyFiles::add_options(po::options_description& options, const std::string& page, const std::string& json,
                             const std::string& verbose) {
  options.add_options()  //
      ("json", po::value<std::string>()->value_name("FILE"),
       fmt::format("{} (docs/{}); - is standard output", json, page).c_str())  //
      ("report", po::value<std::string>()->value_name("FILE"),
       fmt::format("write the same as a page for a browser (docs/{}); - is standard output", page).c_str())  //
      ("verbose", verbose.c_str());
}

namespace {

using Named = std::pair<std::string, std::string>;

std::vector<OutputFiles::Named> inputs_of(const StudyOptions& options, const std::vector<Named>& read) {
  std::vector<OutputFiles::Named> inputs{{"the scenario", options.scenario}};
  for (const auto& [role, path] : read) inputs.push_back({role, path});
  return inputs;
}

}  // namespace

StudyFiles::StudyFiles(const po::variables_map& values, const StudyOptions& options, const std::vector<Named>& read)
    : json_(text_of(values, "json")),
      page_(text_of(values, "report")),
      verbose_(values.contains("verbose")),
      quiet_(options.quiet),
      outputs_({{"--json", json_}, {"--report", page_}}, inputs_of(options, read)) {
  outputs_.check_writable();
}

void StudyFiles::write(const report::Document& document, const report::About& about) const {
  if (!json_.empty()) write_file_atomically(json_, to_json(document));
  if (!page_.empty()) write_file_atomically(page_, to_html(document, about));
  if (!quiet_ && !outputs_.take_standard_output()) print(summary_of(document, verbose_));
}

}  // namespace dadsim::cli
