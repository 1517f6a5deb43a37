// Computes the printed bands from the rows of validation. Counts how many rows are inside bands that are computed
// without the row's own table (docs/bands.md, docs/validation.md).
#include "estimate/bands.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "estimate/statistics.hpp"
#include "estimate/table_effects.hpp"
#include "estimate/unseen.hpp"
#include "sim/device.hpp"
#include "support/fact_table.hpp"
#include "support/split.hpp"
#include "support/whole_file.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

/// Returns the group that is left out together with a row: the row's table, or its testbed network, whose lines other
/// tables use too. All tables of the one H100 are one group, as machine and framework are the same.
std::string left_out_with(const test::ResidualRow& row) {
  if (row.table.starts_with("pytorch-h100-")) return "pytorch-h100";
  static const std::set<std::string> kOfTestbed{"wide testbed", "gloo",    "training",        "BBR",
                                                "dumbbell44",   "hetero5", "star 0 and 5 ms", "star 25 ms"};
  return kOfTestbed.contains(row.table) ? row.what.substr(0, row.what.find(' ')) : row.table;
}

estimate::TimePart longest_part(const test::ResidualRow& row) {
  return std::ranges::max(row.time_parts(), {}, &estimate::TimePart::seconds);
}

bool is_assumed(const std::string& category) {
  return category.ends_with(".assumed") || category.ends_with(".kernels") || category.ends_with(".experts");
}

constexpr double kMostOfStep = 0.75;  ///< a row counts for the category of its longest part if this part takes at least
                                      ///< this share

/// Steps of one network, run by one software on one kind of device.
struct StepsOfOneNetwork {
  std::string table, left_out_with;
  std::vector<const test::ResidualRow*> rows;
};

/// Groups rows that mainly compute by network, and keeps networks with several steps. Skips tables that end in
/// "-unsaid", which repeat other rows.
std::vector<StepsOfOneNetwork> steps_by_network(const std::vector<test::ResidualRow>& rows) {
  std::map<std::string, StepsOfOneNetwork> steps;
  for (const test::ResidualRow& row : rows) {
    const estimate::TimePart main = longest_part(row);
    if (row.role == "calibrated" || main.seconds < kMostOfStep * row.seconds.predicted ||
        !main.category.starts_with("compute.") || row.table.ends_with("-unsaid"))
      continue;
    const bool assumed = is_assumed(main.category);
    const std::string network = row.what.substr(0, row.what.find(' '));
    StepsOfOneNetwork& of = steps[fmt::format("{} {} {}", row.table, network, assumed)];
    of.table = row.table;
    of.left_out_with = left_out_with(row);
    of.rows.push_back(&row);
  }
  std::vector<StepsOfOneNetwork> result;
  for (auto& [name, of] : steps) {
    if (of.rows.size() > 1) result.push_back(std::move(of));
  }
  return result;
}

/// Predicts each step of a network by the error of another step of the network, half-way around its list.
void add_own_steps(const std::vector<test::ResidualRow>& rows, const std::string& left_out,
                   std::vector<estimate::Residual>& result) {
  int number = 0;
  for (const StepsOfOneNetwork& of : steps_by_network(rows)) {
    ++number;
    if (of.left_out_with == left_out) continue;
    const std::size_t count = of.rows.size();
    for (std::size_t i = 0; i < count; ++i) {
      const test::ResidualRow& given = *of.rows[(i + count / 2) % count];
      result.push_back({std::string(estimate::kOwnStep), fmt::format("{} {}", of.table, number),
                        std::log(of.rows[i]->ratio() / given.ratio())});
    }
  }
}

// ---- what was not seen ----

/// A row's step, its software and its source; rows of one source are held out together.
struct RowSetting {
  estimate::StepSetting step;
  std::string software, source;
};

std::string setting_in(const std::string& settings, const std::string& name, const std::string& otherwise) {
  for (const std::string& one : test::split(settings, ' ')) {
    if (one.starts_with(name + "=")) return one.substr(name.size() + 1);
  }
  return otherwise;
}

estimate::StepSetting setting_of(const std::string& device, const std::string& program, const std::string& settings,
                                 const std::string& gpus) {
  const spec::DeviceSpec& known = sim::device_catalog().at(device);
  estimate::StepSetting step{known.has_kernels() ? known.kernels : device,
                             program,
                             setting_in(settings, "precision", "fp32"),
                             {},
                             std::stod(gpus)};
  const std::string sharding = setting_in(settings, "sharding", "none");
  if (sharding == "optimizer") step.parallelism.emplace_back("sharded-optimizer");
  if (sharding == "gradients" || sharding == "parameters") step.parallelism.emplace_back("sharded");
  for (const auto& [attribute, kind] : {std::pair{"tensor", "tensor"},
                                        {"pipeline", "pipeline"},
                                        {"context", "context"},
                                        {"expert-parallel", "experts"}}) {
    if (setting_in(settings, attribute, "1") != "1") step.parallelism.emplace_back(kind);
  }
  return step;
}

/// Returns settings of rows of residuals.csv, by table and row. Rows without a device of their own (predicted by its
/// class) have none.
const std::map<std::pair<std::string, std::string>, RowSetting>& row_settings() {
  static const auto kSettings = [] {
    std::map<std::pair<std::string, std::string>, RowSetting> all;
    for (auto& row : test::measured("jobs")) {
      const std::string table = "jobs-" + row["table"];
      const bool megatron = table == "jobs-megatron" || table == "jobs-dlperf-gpt";
      all[{table, fmt::format("{} gpus {} batch {}", row["case"], row["gpus"], row["batch"])}] = {
          setting_of(row["device"], "typical", row["timed_as"], row["gpus"]), megatron ? "megatron" : table, table};
    }
    for (auto& row : test::measured("jobs-2026")) {
      const std::string table = "jobs-2026-" + row["table"];
      const bool megatron = row["table"] == "megatron-bridge" || row["table"] == "mlperf-v5";
      all[{table, fmt::format("{} gpus {}", row["case"], row["gpus"])}] = {
          setting_of(row["device"], "typical", row["timed_as"], row["gpus"]), megatron ? "megatron" : table, table};
    }
    for (auto& row : test::measured("pytorch-h100")) {
      const std::string table = "pytorch-h100-" + row["group"];
      const std::string program = row["program"] == "nchw" ? "eager" : row["program"];
      all[{table, row["case"]}] = {setting_of("h100-sxm5", program, row["timed_as"], "1"), "pytorch", "pytorch"};
      all[{table + "-unsaid", row["case"]}] = {setting_of("h100-sxm5", "typical", row["timed_as"], "1"), "pytorch",
                                               "pytorch"};
    }
    for (auto& row : test::measured("dlperf"))
      all[{"dlperf", fmt::format("{} batch {} gpus {}", row["workload"], row["batch"], row["gpus"])}] = {
          setting_of("v100-sxm2", "typical", "", row["gpus"]), "dlperf", "dlperf"};
    for (auto& row : test::measured("mlperf-resnet"))
      all[{"mlperf", row["round"] + " " + row["system"]}] = {
          setting_of(row["device"], "typical", "precision=fp16", row["gpus"]), "mlperf", "mlperf"};
    for (auto& row : test::measured("tensorflow-2017"))
      all[{"tensorflow-2017 " + row["system"],
           fmt::format("{} batch {} gpus {}", row["workload"], row["batch"], row["gpus"])}] = {
          setting_of(row["device"], "typical", "", row["gpus"]), "tensorflow", "tensorflow"};
    for (auto& row : test::measured("timm"))
      all[{"rtx-3090", fmt::format("{} batch {}", row["workload"], row["batch"])}] = {
          setting_of("rtx-3090", "typical", "precision=fp16", "1"), "timm", "timm"};
    return all;
  }();
  return kSettings;
}

const RowSetting* setting_of(const test::ResidualRow& row) {
  const auto found = row_settings().find({row.table, row.what});
  return found == row_settings().end() ? nullptr : &found->second;
}

/// Returns the measured steps by device and program, without rows of the source `left_out`.
std::vector<estimate::SeenSteps> seen_without(const std::vector<test::ResidualRow>& rows, const std::string& left_out,
                                              const std::string& software = "") {
  std::map<std::pair<std::string, std::string>, estimate::SeenSteps> seen;
  const auto add = [](std::vector<std::string>& list, const std::string& word) {
    const auto place = std::ranges::lower_bound(list, word);
    if (place == list.end() || *place != word) list.insert(place, word);
  };
  for (const test::ResidualRow& row : rows) {
    const RowSetting* setting = setting_of(row);
    if (setting == nullptr || setting->source == left_out) continue;
    const estimate::StepSetting& step = setting->step;
    // With other software, a step counts as one of another program.
    const std::string program = software.empty() || setting->software == software ? step.program : "another";
    estimate::SeenSteps& one = seen[{step.device, program}];
    one.device = step.device;
    one.program = program;
    add(one.precisions, step.precision);
    for (const std::string& kind : step.parallelism) add(one.parallelism, kind);
    one.devices = std::max(one.devices, step.devices);
  }
  std::vector<estimate::SeenSteps> result;
  for (auto& [key, one] : seen) result.push_back(std::move(one));
  return result;
}

/// Returns the categories of a row's step, and of its software, in which no other source has a row.
std::vector<std::string> unseen_of(const RowSetting& row, const std::vector<test::ResidualRow>& rows) {
  std::vector<std::string> unseen = estimate::unseen_in(row.step, seen_without(rows, row.source));
  if (!unseen.empty() && (unseen.front() == "unseen.device" || unseen.front() == "unseen.software")) return unseen;
  const std::vector<std::string> own = estimate::unseen_in(row.step, seen_without(rows, row.source, row.software));
  if (!own.empty() && own.front() == "unseen.software") unseen.push_back(own.front());
  return unseen;
}

/// Adds each row to the categories that only its own source has.
void add_unseen(const std::vector<test::ResidualRow>& rows, const std::string& left_out,
                std::vector<estimate::Residual>& result) {
  static std::map<std::pair<std::string, std::string>, std::vector<std::string>> known;
  for (const test::ResidualRow& row : rows) {
    const estimate::TimePart main = longest_part(row);
    const RowSetting* setting = setting_of(row);
    if (setting == nullptr || row.role == "calibrated" || left_out_with(row) == left_out ||
        main.seconds < kMostOfStep * row.seconds.predicted || row.table.ends_with("-unsaid"))
      continue;
    const auto [found, added] = known.try_emplace({row.table, row.what});
    if (added) found->second = unseen_of(*setting, rows);
    for (const std::string& category : found->second)
      result.push_back({category, left_out_with(row), std::log(row.ratio())});
  }
}

/// Returns the residuals of rows by category. A row counts for the category of its longest part if this part takes most
/// of the time. Rows that determined a constant by themselves do not count.
std::vector<estimate::Residual> residuals_without(const std::vector<test::ResidualRow>& rows,
                                                  const std::string& left_out) {
  std::vector<estimate::Residual> result;
  for (const test::ResidualRow& row : rows) {
    const estimate::TimePart main = longest_part(row);
    const std::string table = left_out_with(row);
    if (row.role == "calibrated" || table == left_out || main.seconds < kMostOfStep * row.seconds.predicted) continue;
    result.push_back({main.category, table, std::log(row.ratio())});
  }
  add_own_steps(rows, left_out, result);
  add_unseen(rows, left_out, result);
  return result;
}

/// Returns the parts of a row's time; `seen`: measured steps of other sources.
std::vector<estimate::TimePart> parts_of(const test::ResidualRow& row, const std::vector<estimate::SeenSteps>& seen) {
  std::vector<estimate::TimePart> parts = row.time_parts();
  const RowSetting* setting = setting_of(row);
  for (estimate::TimePart& part : parts) {
    if (setting != nullptr && part.category.starts_with("compute."))
      part.unseen = estimate::unseen_in(setting->step, seen);
  }
  return parts;
}

std::vector<estimate::ErrorCategory> spreads_of(const std::vector<estimate::Residual>& residuals) {
  std::vector<estimate::ErrorCategory> categories;
  for (estimate::ErrorCategory category : estimate::error_categories()) {
    category.spread = spread_of(category.name, residuals);
    categories.push_back(std::move(category));
  }
  return categories;
}

/// Prints half the width of a band as a fraction of the prediction: "±24 %".
std::string width_in_words(double half) { return fmt::format("±{:.0f} %", 100 * half); }

double half_width(const estimate::Spread& spread) { return (spread.high - spread.low) / 2; }

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[sizeof "2026-11-25"];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

/// Returns the table with these spreads; a row that does not change keeps its date.
std::string table_of(const std::string& before, const std::vector<estimate::ErrorCategory>& spreads) {
  std::string text;
  std::size_t row = 0;
  for (const std::string_view line : lines_of(before)) {
    std::vector<std::string> cells = csv_cells(line);
    const auto one = std::ranges::find(spreads, cells.front(), &estimate::ErrorCategory::name);
    if (one == spreads.end()) {
      text += std::string(line) + "\n";
      continue;
    }
    EXPECT_EQ(one - spreads.begin(), row++);
    const estimate::Spread& spread = one->spread;
    const std::string numbers = fmt::format("{:.4f},{:.4f},{},{},{:.4f},{:.4f}", spread.low, spread.high, spread.tables,
                                            spread.rows, spread.between, spread.within);
    const std::string date =
        numbers == fmt::format("{}", fmt::join(cells.begin() + 4, cells.begin() + 10, ",")) ? cells[10] : today();
    text += fmt::format("{},{},{},{},{},{},{}\n", cells[0], cells[1], cells[2],
                        cells[3].find(',') == std::string::npos ? cells[3] : '"' + cells[3] + '"', numbers, date,
                        cells[11]);
  }
  EXPECT_EQ(row, spreads.size());
  return text;
}

TEST(Bands, AreThoseOfTheRows) {
  const std::string file = std::string(DADSIM_SOURCE_DIR) + "/src/estimate/category_spreads.csv";
  const std::vector<estimate::ErrorCategory> now = spreads_of(residuals_without(test::residual_rows(), ""));
  // While the tables are being rewritten, the table that was compiled in is outdated.
  const bool writes = std::getenv("DADSIM_WRITE_VALIDATION") != nullptr;
  const std::string table_text = table_of(whole_file(file).value(), now);
  if (writes) std::ofstream(file) << table_text;
  EXPECT_EQ(whole_file(file).value(), table_text) << "scripts/validation writes it";
  const auto compiled = estimate::error_categories();
  ASSERT_EQ(compiled.size(), now.size());
  test::DocumentedTable table("bands", {"category", "what a time of it rests on", "tables", "rows", "between tables",
                                        "within one", "measured ÷ predicted", "width"});
  for (std::size_t i = 0; i < now.size(); ++i) {
    const estimate::Spread& spread = now[i].spread;
    EXPECT_EQ(compiled[i].name, now[i].name);
    if (!writes) {
      EXPECT_NEAR(compiled[i].spread.low, spread.low, 1e-4) << now[i].name;
      EXPECT_NEAR(compiled[i].spread.high, spread.high, 1e-4) << now[i].name;
    }
    table.add({now[i].name, now[i].meaning, fmt::format("{}", spread.tables), fmt::format("{}", spread.rows),
               fmt::format("{:.2f}", spread.between), fmt::format("{:.2f}", spread.within),
               fmt::format("{:.2f} to {:.2f}", spread.low, spread.high), width_in_words(half_width(spread))});
  }
  table.expect_in_document();
}

/// A row, and whether it is inside its bands: computed from all rows, and without the row's table.
struct HeldRow {
  const test::ResidualRow* row = nullptr;
  std::string category, table;
  bool inside = false, inside_held_out = false;
  double half_width = 0;  ///< half the width of the reported band
};

bool is_inside(const test::ResidualRow& row, const estimate::Band& band) {
  return row.ratio() >= band.low && row.ratio() <= band.high;
}

std::vector<HeldRow> held_rows(const std::vector<test::ResidualRow>& rows) {
  const auto all = spreads_of(residuals_without(rows, ""));
  std::map<std::string, std::vector<estimate::ErrorCategory>> without;
  const std::vector<estimate::SeenSteps> seen = seen_without(rows, "");
  std::map<std::string, std::vector<estimate::SeenSteps>> seen_of_others;
  std::vector<HeldRow> held;
  for (const test::ResidualRow& row : rows) {
    if (row.role == "calibrated") continue;
    const std::string table = left_out_with(row);
    auto& others = without[table];
    if (others.empty()) others = spreads_of(residuals_without(rows, table));
    const RowSetting* setting = setting_of(row);
    const auto [own, added] = seen_of_others.try_emplace(setting == nullptr ? "" : setting->source);
    if (added) own->second = seen_without(rows, own->first);
    const estimate::Band band = band_of(parts_of(row, seen), all);
    held.push_back({&row, longest_part(row).category, table, is_inside(row, band),
                    is_inside(row, band_of(parts_of(row, own->second), others)), (band.high - band.low) / 2});
  }
  return held;
}

/// Compares src/estimate/seen_steps.csv with the rows of validation.
TEST(Bands, KnowWhichStepsWereMeasured) {
  const std::string file = std::string(DADSIM_SOURCE_DIR) + "/src/estimate/seen_steps.csv";
  const std::string before = whole_file(file).value();
  std::string text;
  for (const std::string_view line : lines_of(before)) {
    if (line.starts_with("#") || line.starts_with("steps,")) text += std::string(line) + "\n";
  }
  for (const estimate::SeenSteps& one : seen_without(test::residual_rows(), "")) {
    const std::string row = fmt::format("{} {},{},{},{:.0f},", one.device, one.program, fmt::join(one.precisions, " "),
                                        fmt::join(one.parallelism, " "), one.devices);
    const std::size_t known = before.find("\n" + row);
    text += known == std::string::npos ? row + today() + ",tests/validation\n"
                                       : before.substr(known + 1, before.find('\n', known + 1) - known);
  }
  if (std::getenv("DADSIM_WRITE_VALIDATION") != nullptr) std::ofstream(file) << text;
  EXPECT_EQ(whole_file(file).value(), text) << "scripts/validation writes it";
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string as_percent(double part) { return fmt::format("{:.0f} %", 100 * part); }

void expect_coverage(const std::vector<HeldRow>& held) {
  test::DocumentedTable table(
      "coverage", {"category", "tables", "rows", "left out: inside", "share", "mean share of a table", "width"});
  double all = 0;
  for (const estimate::ErrorCategory& category : estimate::error_categories()) {
    std::map<std::string, std::pair<double, double>> of_table;  // number of rows inside the band, number of rows
    double count = 0;
    double inside = 0;
    double width = 0;
    for (const HeldRow& one : held) {
      if (one.category != category.name) continue;
      ++count;
      inside += one.inside_held_out ? 1 : 0;
      width += one.half_width;
      of_table[one.table].first += one.inside_held_out ? 1 : 0;
      ++of_table[one.table].second;
    }
    if (count == 0) continue;
    all += inside;
    const auto tables = static_cast<double>(of_table.size());
    double of_tables = 0;
    for (const auto& [name, one] : of_table) of_tables += share(one.first, one.second) / tables;
    // Rows of a table share errors, so the coverage has a standard error of about √(0.9 × 0.1 ÷ tables).
    const double unsure = std::sqrt(0.09 / tables);
    EXPECT_GE(share(inside, count), std::min(0.85, 0.9 - unsure)) << category.name;
    EXPECT_LE(share(inside, count), std::max(0.95, 0.9 + unsure)) << category.name;
    table.add({category.name, fmt::format("{}", of_table.size()), fmt::format("{:.0f}", count),
               fmt::format("{:.0f}", inside), as_percent(share(inside, count)), as_percent(of_tables),
               width_in_words(width / count)});
  }
  const double covered = share(all, static_cast<double>(held.size()));
  EXPECT_GE(covered, 0.85);
  EXPECT_LE(covered, 0.95);
  table.add({"all", "", fmt::format("{}", held.size()), fmt::format("{:.0f}", all), as_percent(covered), "", ""});
  table.expect_in_document();
}

/// Compares the errors of all predicted rows with the page, table by table.
void expect_errors_of_tables(const std::vector<HeldRow>& held) {
  test::DocumentedTable table(
      "tables", {"table", "rests on", "rows", "mean error", "signed", "tau", "inside", "left out: inside", "width"});
  std::vector<std::string> names;
  for (const HeldRow& one : held) {
    if (std::ranges::find(names, one.row->table) == names.end()) names.push_back(one.row->table);
  }
  names.emplace_back();  // an empty name is the row for all tables
  for (const std::string& name : names) {
    for (const bool assumed : {false, true}) {
      std::vector<test::Compared> compared;
      double signed_error = 0;
      double width = 0;
      int inside = 0;
      int held_out = 0;
      for (const HeldRow& one : held) {
        if ((!name.empty() && one.row->table != name) || is_assumed(one.category) != assumed) continue;
        compared.push_back(one.row->seconds);
        signed_error += compared.back().error();
        width += one.half_width;
        inside += one.inside ? 1 : 0;
        held_out += one.inside_held_out ? 1 : 0;
      }
      if (compared.empty()) continue;
      const auto count = static_cast<double>(compared.size());
      table.add(
          {name.empty() ? "all" : name, assumed ? "assumptions" : "measurements", fmt::format("{}", compared.size()),
           fmt::format("{:.1f} %", 100 * test::mean_absolute_error(compared)),
           fmt::format("{:+.1f} %", 100 * signed_error / count),
           name.empty() || compared.size() < 2 ? "" : fmt::format("{:.2f}", estimate::kendall_tau(compared).value()),
           fmt::format("{}", inside), fmt::format("{}", held_out), width_in_words(width / count)});
    }
  }
  table.expect_in_document();
}

TEST(Bands, HoldTablesThatNobodyHasSeen) {
  const std::vector<test::ResidualRow> rows = test::residual_rows();
  const std::vector<HeldRow> held = held_rows(rows);
  expect_coverage(held);
  expect_errors_of_tables(held);
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

/// Errors of rows, half-widths, and the number of rows inside bands that were computed without their table.
struct HeldErrors {
  std::vector<double> errors, half_widths;
  double inside = 0;
  void add(double measured_over_predicted, const estimate::Band& band) {
    errors.push_back(std::abs(1 / measured_over_predicted - 1));
    inside += measured_over_predicted >= band.low && measured_over_predicted <= band.high ? 1 : 0;
    half_widths.push_back((band.high - band.low) / 2);
  }
  double count() const { return static_cast<double>(errors.size()); }
};

/// Means over tables: of the median error, the fraction inside, and the median half-width.
struct MeanOfTables {
  double error = 0, inside = 0, half_width = 0, tables = 0;
  void add(const HeldErrors& of) {
    ++tables;
    error += (median_of(of.errors) - error) / tables;
    inside += (of.inside / of.count() - inside) / tables;
    half_width += (median_of(of.half_widths) - half_width) / tables;
  }
};

/// Compares predictions with and without one measured step of the same network, over all pairs of the network's steps.
/// The whole source of the row is left out.
TEST(Bands, NarrowWithOneStepOfTheSameSoftware) {
  const std::vector<test::ResidualRow> rows = test::residual_rows();
  std::map<std::string, std::vector<estimate::ErrorCategory>> without;
  std::map<std::string, std::pair<HeldErrors, HeldErrors>> of_table;  // by table: without a measured step, and with one
  HeldErrors all_cold, all_own;
  for (const StepsOfOneNetwork& of : steps_by_network(rows)) {
    auto& others = without[of.left_out_with];
    if (others.empty()) others = spreads_of(residuals_without(rows, of.left_out_with));
    auto& [cold, own] = of_table[of.table];
    const RowSetting* setting = setting_of(*of.rows.front());
    const auto seen = seen_without(rows, setting == nullptr ? "" : setting->source);
    for (const test::ResidualRow* row : of.rows) {
      const estimate::Band unknown = band_of(parts_of(*row, seen), others);
      cold.add(row->ratio(), unknown);
      all_cold.add(row->ratio(), unknown);
      const estimate::Band band = band_of(estimate::with_own_step(row->time_parts()), others);
      for (const test::ResidualRow* given : of.rows) {
        if (given == row) continue;
        own.add(row->ratio() / given->ratio(), band);
        all_own.add(row->ratio() / given->ratio(), band);
      }
    }
  }
  test::DocumentedTable table("own-step", {"table", "rows", "cold: median error", "inside", "median width",
                                           "with one step: median error", "inside", "median width"});
  const auto add = [&](const std::string& name, const HeldErrors& cold, const HeldErrors& own) {
    table.add({name, fmt::format("{:.0f}", cold.count()), fmt::format("{:.1f} %", 100 * median_of(cold.errors)),
               as_percent(cold.inside / cold.count()), width_in_words(median_of(cold.half_widths)),
               fmt::format("{:.1f} %", 100 * median_of(own.errors)), as_percent(own.inside / own.count()),
               width_in_words(median_of(own.half_widths))});
  };
  MeanOfTables cold;
  MeanOfTables own;
  for (const auto& [name, both] : of_table) {
    add(name, both.first, both.second);
    cold.add(both.first);
    own.add(both.second);
  }
  add("all rows", all_cold, all_own);
  table.add({"mean of the tables", "", fmt::format("{:.1f} %", 100 * cold.error), as_percent(cold.inside),
             width_in_words(cold.half_width), fmt::format("{:.1f} %", 100 * own.error), as_percent(own.inside),
             width_in_words(own.half_width)});
  for (const double inside : {all_cold.inside / all_cold.count(), cold.inside}) {
    EXPECT_GE(inside, 0.85);
    EXPECT_LE(inside, 0.95);
  }
  EXPECT_LE(median_of(all_cold.errors), 0.12);
  EXPECT_GE(own.inside, 0.85);
  EXPECT_LE(own.half_width, 0.25);
  table.expect_in_document();
}

/// Measures how well a framework's rates predict rows of their own source and rows of another source.
TEST(Bands, OfFrameworksWithinASourceAndBetweenSources) {
  const std::string category = "network.framework";
  std::map<bool, std::vector<test::ResidualRow>> rows;
  for (test::ResidualRow& row : test::residual_rows()) {
    if (row.role == "calibrated" || !row.parts.starts_with(category)) continue;
    rows[row.what.find(" by ") != std::string::npos].push_back(std::move(row));
  }
  std::vector<test::ResidualRow> printed = rows[false];
  std::ranges::copy(rows[true], std::back_inserter(printed));
  test::DocumentedTable table("framework-bands", {"rates of", "sources", "rows", "measured ÷ predicted", "held out"},
                              "docs/frameworks.md");
  const auto add = [&](const std::string& name, const std::vector<test::ResidualRow>& of) {
    const estimate::Spread all = spread_of(category, residuals_without(of, ""));
    int held_out = 0;
    std::set<std::string> own;
    for (const test::ResidualRow& row : of) {
      own.insert(row.table);
      const estimate::Spread others = spread_of(category, residuals_without(of, row.table));
      held_out += row.ratio() >= others.low && row.ratio() <= others.high ? 1 : 0;
    }
    table.add({name, fmt::format("{}", own.size()), fmt::format("{}", of.size()),
               fmt::format("{:.2f} to {:.2f}", all.low, all.high),
               fmt::format("{:.0f} %", 100.0 * held_out / static_cast<double>(of.size()))});
  };
  add("the same source", rows[false]);
  add("another source", rows[true]);
  add("both, as printed", printed);
  table.expect_in_document();
}

}  // namespace
}  // namespace dadsim
