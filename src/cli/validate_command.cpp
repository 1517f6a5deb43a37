#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/study_options.hpp"
#include "study/validation/measured_job.hpp"
#include "study/validation/validate_jobs.hpp"
#include "support/diagnostics.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

constexpr std::int64_t kDevicesUnlessSaid = 64;

std::vector<study::MeasuredJob> jobs_of_file(const std::string& path) {
  return study::read_measured_jobs(path, read_input(path, "use a file of measurements", kMostOfTable));
}

bool is_file_name(const std::string& operand) {
  return operand.ends_with(".csv") || operand.find('/') != std::string::npos;
}

std::int64_t most_devices(const po::variables_map& values) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t most =
      value_of<std::int64_t>(values, "devices", scenario::word_or_count("all", kMost)).value_or(kDevicesUnlessSaid);
  return most == 0 ? kMost : most;
}

std::vector<std::string> tables_to_validate() {
  std::vector<std::string> names;
  for (const study::MeasuredJob& job : study::published_jobs()) {
    if (std::ranges::find(names, job.table) == names.end()) names.push_back(job.table);
  }
  return names;
}

std::string list_of_tables() {
  std::string text;
  for (const std::string& table : tables_to_validate()) {
    std::int64_t rows = 0;
    std::int64_t most = 0;
    for (const study::MeasuredJob& job : study::published_jobs()) {
      if (job.table != table) continue;
      ++rows;
      most = std::max(most, job.gpus);
    }
    text += fmt::format("{:<16} {:>4} rows, up to {} devices\n", table, rows, most);
  }
  return text;
}

/// Reads the named published tables and files; without names, all published tables. Leaves out rows of published tables
/// with more than `most` devices, and counts them for each table.
std::vector<study::MeasuredJob> jobs_asked_for(const std::vector<std::string>& operands, std::int64_t most,
                                               std::map<std::string, std::size_t>& left_out) {
  std::vector<study::MeasuredJob> jobs;
  for (const std::string& table : operands.empty() ? tables_to_validate() : operands) {
    if (is_file_name(table)) {
      for (study::MeasuredJob& job : jobs_of_file(table)) jobs.push_back(std::move(job));
      continue;
    }
    for (const study::MeasuredJob& job : study::published_jobs()) {
      if (job.table != table) continue;
      if (job.gpus > most) {
        ++left_out[table];
      } else {
        jobs.push_back(job);
      }
    }
  }
  return jobs;
}

}  // namespace

Command::Names names_of_tables() {
  Command::Names names;
  for (const std::string& table : tables_to_validate()) names.emplace_back(table, "");
  return names;
}

void run_validate(const po::variables_map& values) {
  if (values.contains("list")) return print(list_of_tables());
  const std::vector<std::string> operands = operands_of(values);
  const std::vector<std::string> names = tables_to_validate();
  std::vector<OutputFiles::Named> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (std::find(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(i), operands[i]) !=
        operands.begin() + static_cast<std::ptrdiff_t>(i))
      throw UsageError(fmt::format("'{}' is named twice; name each table once", operands[i]));
    if (is_file_name(operands[i])) {
      inputs.push_back({"the measurements", operands[i]});
    } else if (std::ranges::find(names, operands[i]) == names.end()) {
      throw UsageError(fmt::format("no published table is called '{}'; {}, or a file of measurements (.csv)",
                                   operands[i], suggestion(operands[i], names)));
    }
  }
  const std::int64_t most = most_devices(values);
  const StudyFiles files(values, inputs);
  std::map<std::string, std::size_t> left_out;
  const std::vector<study::MeasuredJob> jobs = jobs_asked_for(operands, most, left_out);
  report::Validation validation =
      study::validate_jobs(jobs, !values.contains("quiet"), [&] { files.check_against_inputs(); });
  for (const auto& [table, rows] : left_out) {
    auto found = std::ranges::find(validation.tables, table, &report::ValidatedTable::name);
    if (found == validation.tables.end()) {
      validation.tables.push_back({.name = table, .source = "built in"});
      found = validation.tables.end() - 1;
    }
    found->left_out = rows;
  }
  const bool own = std::ranges::any_of(operands, is_file_name);
  files.write(document_of(validation, own || values.contains("verbose")));
}

}  // namespace dadsim::cli
