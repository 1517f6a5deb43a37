#include "cli/commands.hpp"
#include "cli/study_options.hpp"
#include "study/scale_study/scale_study.hpp"

namespace dadsim::cli {
void run_scale_study(const po::variables_map& values) {
  run_learning_study(
      values, "scale-study", [](const auto& source, const StudyOptions& options, const auto& on_read, auto* queue) {
        return document_of(study::scale_study(source, options.overrides, !options.quiet, on_read, queue));
      });
}

}  // namespace dadsim::cli
