#include "cli/commands.hpp"
#include "cli/study_options.hpp"
#include "study/scale_study/scale_study.hpp"

namespace dadsim::cli {
namespace {

po::options_description scale_study_options() {
  po::options_description options("Options");
  StudyFiles::add_options(options, "scale-study.md", "write the result as JSON, which <ladder> reads",
                          "print also every slope, and why relative steps are missing");
  add_plots_option(options);
  add_on_option(options);
  add_study_options(options);
  return options;
}

void run_scale_study(const po::variables_map& values) {
  run_learning_study(
      values, "scale-study", [](const auto& source, const StudyOptions& options, const auto& on_read, auto* queue) {
        return document_of(study::scale_study(source, options.overrides, !options.quiet, on_read, queue));
      });
}

}  // namespace

Command scale_study_command() {
  return {"scale-study",
          "scenario.xml",
          "how relative steps change with the size of a network (docs/scale-study.md)",
          Command::Operand::scenario,
          "dadsim scale-study [options] scenario.xml\nlearns the networks of the <scale-study> of a scenario, fits how "
          "relative steps change with size, tests the\nfit on the largest, and predicts those of the workload "
          "(docs/scale-study.md).\n\n",
          scale_study_options,
          run_scale_study};
}

}  // namespace dadsim::cli
