#include "cli/commands.hpp"

#include <algorithm>

#include "cli/calibrate_command.hpp"
#include "cli/collective_command.hpp"
#include "cli/collective_options.hpp"
#include "cli/compare_command.hpp"
#include "cli/diagnose_command.hpp"
#include "cli/explain_command.hpp"
#include "cli/export_command.hpp"
#include "cli/import_command.hpp"
#include "cli/kernel_command.hpp"
#include "cli/layout_command.hpp"
#include "cli/lesson_command.hpp"
#include "cli/new_command.hpp"
#include "cli/plan_command.hpp"
#include "cli/platform_command.hpp"
#include "cli/scale_study_command.hpp"
#include "cli/support_command.hpp"
#include "cli/sweep_command.hpp"
#include "cli/validate_command.hpp"

namespace dadsim::cli {

const std::vector<Command>& commands() {
  using Operand = Command::Operand;
  static const std::vector<Command> all{
      {"new", "TEMPLATE [FILE]", "write a scenario to begin with; without a name, list them", Operand::name,
       run_new_command, usage_of_new},
      {"sweep", "scenario.xml", "run it at every point of its <sweep> (docs/sweep.md)", Operand::scenario,
       run_sweep_command, usage_of_sweep},
      {"merge", "OUT FILE...", "put the shards of a sweep together", Operand::file, run_merge_command, usage_of_merge},
      {"platform", "FILE", "look at a platform: links, routes, bisection; pictures", Operand::platform,
       run_platform_command, usage_of_platform},
      {"collective", "--platform FILE --op OP", "time a collective alone, size by size", Operand::none,
       run_collective_command, usage_of_collective},
      {"kernel", "--on DEVICE", "what one product or fused attention takes on a device (docs/kernels.md)",
       Operand::none, run_kernel_command, usage_of_kernel},
      {"explain", "scenario.xml", "what holds each run back, and what would help", Operand::scenario,
       run_explain_command, usage_of_explain},
      {"export", "scenario.xml", "write a step for other simulators: GOAL, Chakra (docs/exchange.md)",
       Operand::scenario, run_export_command, usage_of_export},
      {"import", "FILE...", "time what others describe: a model of Hugging Face, a Chakra trace, logs of a federation",
       Operand::file, run_import_command, usage_of_import},
      {"compare", "A.xml B.xml", "how much quicker the second is, and why (docs/compare.md)", Operand::scenario,
       run_compare_command, usage_of_compare},
      {"calibrate", "FILE --device NAME", "fit a device to measured steps of your own (docs/calibrate.md)",
       Operand::file, run_calibrate_command, usage_of_calibrate},
      {"plan", "scenario.xml", "how its <goal> can be reached (docs/plan.md)", Operand::scenario, run_plan_command,
       usage_of_plan},
      {"diagnose", "scenario.xml", "whether a measured time is normal, and why not (docs/diagnose.md)",
       Operand::scenario, run_diagnose_command, usage_of_diagnose},
      {"validate", "[TABLE|FILE.csv]...", "predict steps that others measured, or you (docs/validate.md)",
       Operand::name_or_file, run_validate_command, usage_of_validate},
      {"layout", "scenario.xml", "how a network is best divided among its devices (docs/layout.md)", Operand::scenario,
       run_layout_command, usage_of_layout},
      {"scale-study", "scenario.xml", "how relative steps move with the size of a network (docs/scale-study.md)",
       Operand::scenario, run_scale_study_command, usage_of_scale_study},
      {"lesson", "[N]", "a lesson as a page for a browser, with its runs", Operand::none, run_lesson_command,
       usage_of_lesson},
      {"support", "NAME", "print what shells, editors and man know of dadsim", Operand::name, run_support_command,
       usage_of_support},
  };
  return all;
}

const Command* find_command(const std::string& name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

}  // namespace dadsim::cli
