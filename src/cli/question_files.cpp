#include "cli/question_files.hpp"

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/output_files.hpp"
#include "cli/study_options.hpp"
#include "support/diagnostics.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {

void answer_question(const po::variables_map& values, const std::string& read, const std::string& command,
                     const std::function<Answered(bool)>& answer) {
  const std::string written = text_of(values, "write");
  const StudyFiles files(values, {{"the scenario", read}}, {{"--write", written}});
  if (!written.empty()) check_is_new(written);
  const ThreadLimit limit(threads_to_use(threads_of(values)));
  Answered found = answer(!values.contains("quiet"));
  found.document.print(written.empty() || written == "-"
                           ? fmt::format("To keep its scenario: dadsim {} … --write my.xml\n", command)
                           : fmt::format("What would each change save? dadsim explain {}\n", written));
  if (!written.empty()) write_new(written, found.scenario);
  files.write(found.document, report::About{.scenario = found.scenario});
}

}  // namespace dadsim::cli
