#include "study/validation/measured_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "algorithms/registry.hpp"
#include "report/text/escape.hpp"
#include "scenario/language/quantity.hpp"
#include "study/validation/published_text.hpp"
#include "support/diagnostics.hpp"
#include "support/fact_table.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

constexpr std::int64_t kMostDevices = 1'000'000;
constexpr std::size_t kMostBytesOfLineOfJobs = 65'536;
constexpr std::size_t kMostRowsOfJobs = 100'000;
constexpr std::size_t kMostFaultsOfJobs = 20;  // largest number of faults listed
constexpr std::int64_t kMostSamplesOfJob = 1'000'000'000;

const std::array<std::string, 5> kFigures{"time", "seconds", "tokens_per_second", "samples_per_second", "mfu"};

const PublishedPlatform* published_platform(std::string_view name) {
  const auto* const found = std::ranges::find(kPublishedPlatforms, name, &PublishedPlatform::name);
  return found == std::end(kPublishedPlatforms) ? nullptr : found;
}

std::vector<std::string> attributes_of_timed_as() { return scenario::find_rule("timed-as")->attribute_names(); }

std::string without_blanks(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  return fmt::format("{}", fmt::join(words, " "));
}

class JobReader {
 public:
  JobReader(const std::string& file, std::string optimizer) : file_(file), optimizer_(std::move(optimizer)) {}

  std::vector<MeasuredJob> read(std::string_view text) {
    for (std::string_view line : lines_of(text)) {
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (words_of(line).empty() || line.starts_with('#')) continue;
      read_line(line);
      if (columns_.empty() || errors_.size() >= kMostFaultsOfJobs) break;
    }
    if (columns_.empty() && errors_.empty())
      fail("holds no measurements", "begin with a line of columns, e.g. scenario,time, then a line per measurement");
    if (!columns_.empty() && jobs_.empty() && errors_.empty())
      fail("no measurement below the columns", "a line for each");
    if (!errors_.empty()) throw InputError(std::move(errors_));
    return std::move(jobs_);
  }

 private:
  void fail(std::string what, std::string remedy) {
    errors_.push_back({file_, line_, std::move(what), std::move(remedy)});
  }

  void read_line(std::string_view line) {
    std::vector<std::string> cells;
    if (line.size() > kMostBytesOfLineOfJobs) return fail("a line has more than 64 KiB", "use fewer columns");
    if (jobs_.size() == kMostRowsOfJobs) return fail("more than 100,000 measurements", "several files");
    try {
      for (const std::string& cell : csv_cells(line)) cells.push_back(without_blanks(cell));
    } catch (const std::invalid_argument& error) {
      return fail(error.what(), "put quotes in pairs around a cell (RFC 4180)");
    }
    columns_.empty() ? read_header(std::move(cells)) : read_row(cells);
  }

  void read_header(std::vector<std::string> cells) {
    std::vector<std::string> known{"table",  "name",     "case",  "scenario",  "set",  "platform", "gpus",
                                   "device", "timed_as", "batch", "optimizer", "role", "base",     "sampled"};
    known.insert(known.end(), kFigures.begin(), kFigures.end());
    known_ = known;
    for (const std::string& attribute : attributes_of_timed_as()) known.push_back(attribute);
    for (const std::string& column : cells) {
      if (std::ranges::find(known, column) == known.end())
        fail(fmt::format("unknown column '{}'", column), suggestion(column, known));
      if (std::ranges::count(cells, column) > 1 && errors_.empty())
        fail(fmt::format("column '{}' twice", column), "each once");
    }
    const auto has = [&](const std::string& column) { return std::ranges::find(cells, column) != cells.end(); };
    if (std::ranges::none_of(kFigures, has))
      fail("no column has a measured figure", fmt::format("add one of {}", fmt::join(kFigures, ", ")));
    if (!has("scenario") && !(has("device") && has("batch")))
      fail("no column names the measured system",
           "add scenario (a path), or device, gpus, platform, workload and batch");
    if (errors_.empty()) columns_ = std::move(cells);
  }

  void read_row(const std::vector<std::string>& cells) {
    if (cells.size() != columns_.size())
      return fail(fmt::format("{} cells for {} columns", cells.size(), columns_.size()),
                  fmt::format("{}", fmt::join(columns_, ",")));
    const std::size_t before = errors_.size();
    MeasuredJob job{.file = file_, .line = line_, .table = file_, .name = {}};
    job.optimizer = optimizer_;
    std::string timed_as;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      if (columns_[i] == "timed_as") {
        timed_as = cells[i];
      } else if (std::ranges::find(known_, columns_[i]) == known_.end()) {
        job.timed_as[columns_[i]] = cells[i];
      } else {
        read_cell(job, columns_[i], cells[i]);
      }
    }
    for (const std::string& setting : words_of(timed_as)) add_setting(job, setting);
    check(job);
    if (job.name.empty()) job.name = job.scenario.empty() ? job.timed_as["workload"] : job.scenario;
    if (errors_.size() == before) jobs_.push_back(std::move(job));
  }

  void add_setting(MeasuredJob& job, const std::string& setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(fmt::format("'{}' needs ATTRIBUTE=VALUE", setting), "write workload=gpt-2-medium precision=bf16 …");
    const std::string name = setting.substr(0, equals);
    // A name with a dot is a --set path of another element.
    if (name.find('.') != std::string::npos) {
      job.settings.push_back(setting);
    } else {
      job.timed_as[name] = setting.substr(equals + 1);
    }
  }

  void read_cell(MeasuredJob& job, const std::string& column, const std::string& cell) {
    if (column == "table") job.table = cell;
    if (column == "name" || column == "case") job.name = cell;
    if (column == "scenario") job.scenario = path_of(cell);
    if (column == "set") {
      for (const std::string& setting : words_of(cell)) {
        if (setting.find('=') == std::string::npos)
          fail(fmt::format("'{}' needs PATH=VALUE", setting), "write PATH=VALUE as for --set, separated by blanks");
        job.settings.push_back(setting);
      }
    }
    if (column == "platform") {
      const bool named = cell.find('=') != std::string::npos || published_platform(cell) != nullptr;
      job.platform = named ? cell : path_of(cell);
    }
    if (column == "device") job.device = cell;
    if (column == "optimizer") job.optimizer = cell;
    if (column == "gpus") job.gpus = whole(column, cell, kMostDevices);
    if (column == "batch") job.batch = whole(column, cell, kMostSamplesOfJob);
    if (column == "time") {
      const std::optional<double> seconds = scenario::parse_quantity(scenario::Unit::seconds, cell);
      if (!seconds || !(*seconds > 0) || !std::isfinite(*seconds) || parse_whole<double>(cell))
        return fail(fmt::format("time '{}' is not a time", cell), "give the time of a step with its unit, e.g. 312ms");
      job.measured.step_seconds = seconds;
    }
    if (column == "seconds") job.measured.step_seconds = positive(column, cell);
    if (column == "tokens_per_second") job.measured.tokens_per_second = positive(column, cell);
    if (column == "samples_per_second") job.measured.samples_per_second = positive(column, cell);
    if (column == "mfu") {
      const bool percent = cell.ends_with('%');
      const std::string number = without_blanks(std::string_view(cell).substr(0, cell.size() - (percent ? 1 : 0)));
      const double share = parse_whole<double>(number).value_or(0) / (percent ? 100 : 1);
      if (!(share > 0 && share <= 1)) return fail(fmt::format("mfu '{}' is not a share", cell), "write 0.41 or 41%");
      job.measured.utilisation = share;
    }
  }

  std::string path_of(const std::string& said) const {
    return (std::filesystem::path(file_).parent_path() / said).lexically_normal().string();
  }
  std::int64_t whole(const std::string& column, const std::string& cell, std::int64_t most) {
    const auto value = parse_whole<std::int64_t>(cell, 1, most);
    if (!value) fail(fmt::format("{} '{}' is not a whole number", column, cell), "use a whole number from 1 on");
    return value.value_or(1);
  }
  std::optional<double> positive(const std::string& column, const std::string& cell) {
    const std::optional<double> value = parse_whole<double>(cell);
    if (value && *value > 0 && std::isfinite(*value)) return value;
    fail(fmt::format("{} '{}' is not a number", column, cell), "use a number above 0, without a unit");
    return 1;
  }

  void check(const MeasuredJob& job) {
    const int said = (job.measured.step_seconds ? 1 : 0) + (job.measured.tokens_per_second ? 1 : 0) +
                     (job.measured.samples_per_second ? 1 : 0) + (job.measured.utilisation ? 1 : 0);
    if (said != 1)
      fail(said == 0 ? "nothing was measured" : "several figures were measured",
           fmt::format("one of {}", fmt::join(kFigures, ", ")));
    if (!job.scenario.empty()) {
      if (!job.device.empty() || !job.timed_as.empty() || job.batch > 0 || !job.platform.empty())
        fail("a scenario already gives device and workload", "keep only the scenario; `set` changes its attributes");
      return;
    }
    if (job.device.empty()) fail("no device", "name one of dadsim devices, e.g. h100-sxm5");
    if (job.batch == 0) fail("no batch", "give the samples per device and step");
    if (!job.timed_as.contains("workload")) fail("no workload", "name one of dadsim workloads, e.g. gpt-2-medium");
    if (job.platform.empty() && job.gpus > 1)
      fail("several GPUs need a platform",
           "give nodes=2 gpus=8 inside=nvlink-4 nic=ib-ndr rails=8, or a platform's file");
  }

  const std::string& file_;
  std::string optimizer_;
  int line_ = 0;
  std::vector<std::string> columns_, known_;
  std::vector<MeasuredJob> jobs_;
  std::vector<Diagnostic> errors_;
};

std::string attributes_in_xml(std::string_view settings) {
  std::string text;
  for (const std::string& setting : words_of(settings)) {
    const std::size_t equals = setting.find('=');
    text += fmt::format(" {}=\"{}\"", setting.substr(0, equals),
                        equals == std::string::npos ? "" : report::escaped(setting.substr(equals + 1)));
  }
  return text;
}

std::string platform_element(const MeasuredJob& job) {
  if (job.platform.empty())
    return R"(<platform><gpu-cluster nodes="1" gpus="1" inside="nvlink-3" nic="ib-hdr"/></platform>)";
  if (job.platform.find('=') != std::string::npos)
    return fmt::format("<platform><gpu-cluster{}/></platform>", attributes_in_xml(job.platform));
  if (const PublishedPlatform* known = published_platform(job.platform)) {
    const std::size_t root = known->text.find("<cluster-platform");
    const std::size_t begin = known->text.find('>', root) + 1;
    return fmt::format("<platform>{}</platform>",
                       known->text.substr(begin, known->text.find("</cluster-platform>") - begin));
  }
  return fmt::format("<platform file=\"{}\"/>",
                     report::escaped(std::filesystem::absolute(job.platform).lexically_normal().string()));
}

}  // namespace

std::vector<MeasuredJob> read_measured_jobs(const std::string& file, std::string_view text,
                                            const std::string& optimizer) {
  return JobReader(file, optimizer).read(text);
}

const std::vector<MeasuredJob>& published_jobs() {
  static const std::vector<MeasuredJob> kAll = [] {
    std::vector<MeasuredJob> all;
    const auto add = [&](const TableText& table, const char* optimizer) {
      const std::string file(table.file);
      for (MeasuredJob& job : read_measured_jobs(file, table.text, optimizer)) all.push_back(std::move(job));
    };
    add(kPublishedJobs, "sgd");
    add(kPublishedJobsOf2026, "adamw");
    return all;
  }();
  return kAll;
}

std::string scenario_text_of(const MeasuredJob& job, std::int64_t batch) {
  std::string timed_as;
  for (const auto& [name, value] : job.timed_as) timed_as += fmt::format(" {}=\"{}\"", name, report::escaped(value));
  const std::string training =
      job.optimizer == "sgd" ? R"(<sgd learning-rate="0.01" momentum="0.9"/>)" : fmt::format("<{}/>", job.optimizer);
  return fmt::format(
      R"(<scenario name="{}" seed="1">{}<workers memory="ignore"><worker hosts="{}" device="{}"/></workers>)"
      R"(<network fidelity="flow"/><timing-only/><training>{}</training><timed-as{} batch="{}"/>)"
      R"(<run algorithm="{}" exchange="peer" bucket="25MB"/></scenario>)",
      report::escaped(job.name), platform_element(job),
      job.gpus == 1 ? std::string("gpu-0") : fmt::format("gpu-[0-{}]", job.gpus - 1), report::escaped(job.device),
      training, timed_as, batch, algorithms::baseline().name);
}

}  // namespace dadsim::study
