// Compares published kernel times with sim/devices/kernels.csv: its constants are a fit to these rows, and each table
// is predicted by a fit to the other tables (docs/kernels.md).
#include "sim/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/device.hpp"
#include "validation/measured.hpp"
#include "validation/simplex.hpp"

namespace dadsim {
namespace {

using spec::KernelFamily;

struct KernelRow {
  double m = 0, n = 0, k = 0, causal = 1, seconds = 0;
};

/// A published table: one source, device, library and format.
struct KernelRows {
  std::string name, kind;
  KernelFamily family = KernelFamily::none;
  sim::KernelFormat format = sim::KernelFormat::bits16;
  spec::FlashLibrary library = spec::FlashLibrary::any;
  sim::KernelRates rates;
  std::vector<KernelRow> rows;
};

/// Tables that share constants.
struct KernelGroup {
  std::string family, kind, library, format;
  std::vector<KernelRows> tables;
};

std::vector<KernelGroup> kernel_groups() {
  std::map<std::string, std::vector<KernelRow>> rows;
  for (auto& cells : test::measured("kernels")) {
    rows[cells["table"]].push_back({std::stod(cells["m"]), std::stod(cells["n"]), std::stod(cells["k"]),
                                    std::stod(cells["causal"]), std::stod(cells["us"]) * 1e-6});
  }
  std::map<std::tuple<std::string, std::string, std::string, std::string>, KernelGroup> groups;
  for (auto& cells : test::measured("kernel-tables")) {
    KernelGroup& group = groups[{cells["kind"], cells["family"], cells["library"], cells["format"]}];
    group.family = cells["family"];
    group.kind = cells["kind"];
    group.library = cells["library"];
    group.format = cells["format"];
    KernelRows table;
    table.name = cells["name"];
    table.kind = cells["kind"];
    table.family = spec::parse<KernelFamily>(cells["family"]).value();
    table.format = spec::parse<sim::KernelFormat>(cells["format"]).value();
    if (!cells["library"].empty()) table.library = spec::parse<spec::FlashLibrary>(cells["library"]).value();
    table.rates = sim::kernel_rates(*sim::device_catalog().find(cells["device"]), table.format).value();
    table.rows = rows.at(cells["table"]);
    group.tables.push_back(std::move(table));
  }
  std::vector<KernelGroup> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

bool is_product(const KernelRows& table) { return table.kind == "product"; }
bool is_backward(const KernelRows& table) { return table.kind == "attention-backward"; }
/// Few sources measured backward over all libraries, so its work-independent parts are taken from the forward pass.
bool is_as_forward(const KernelRows& table) { return is_backward(table) && table.library == spec::FlashLibrary::any; }
const sim::AttentionKernel& attention_of(const KernelRows& table) {
  return *sim::attention_kernel(table.family, table.format, is_backward(table), table.library);
}

/// Returns the fitted constants in order; times in microseconds.
std::vector<double> constants_of(const KernelRows& table) {
  if (is_product(table)) {
    const sim::ProductKernel& kernel = *sim::product_kernel(table.family, table.format);
    std::vector<double> constants{kernel.share, kernel.fixed * 1e6, kernel.depth};
    if (kernel.units > 0) constants.insert(constants.end(), {kernel.last_wave, kernel.halving});
    if (kernel.cast > 0) constants.push_back(kernel.cast);
    return constants;
  }
  const sim::AttentionKernel& kernel = attention_of(table);
  if (is_as_forward(table)) return {kernel.share, kernel.exponentials};
  return {kernel.share, kernel.exponentials, kernel.fixed * 1e6, kernel.length};
}

double element_bytes(sim::KernelFormat format) {
  return format == sim::KernelFormat::bits16 ? 2 : format == sim::KernelFormat::nvfp4 ? 0.5 : 1;
}

/// Returns log(predicted ÷ measured) of the rows, with these constants.
std::vector<double> log_ratios(const KernelRows& table, const std::vector<double>& constants) {
  std::vector<double> ratios;
  ratios.reserve(table.rows.size());
  if (is_product(table)) {
    sim::ProductKernel kernel = *sim::product_kernel(table.family, table.format);
    kernel.share = constants[0];
    kernel.fixed = constants[1] * 1e-6;
    kernel.depth = constants[2];
    if (kernel.units > 0) {
      kernel.last_wave = constants[3];
      kernel.halving = constants[4];
    }
    if (kernel.cast > 0) kernel.cast = constants.back();
    for (const KernelRow& row : table.rows) {
      const double seconds = product_seconds(kernel, table.rates, {row.m, row.n, row.k, element_bytes(table.format)});
      ratios.push_back(std::log(seconds / row.seconds));
    }
    return ratios;
  }
  sim::AttentionKernel kernel = attention_of(table);
  kernel.share = constants[0];
  kernel.exponentials = constants[1];
  if (constants.size() > 2) {
    kernel.fixed = constants[2] * 1e-6;
    kernel.length = constants[3];
  }
  for (const KernelRow& row : table.rows) {
    const double flops = sim::attention_flops(row.m * row.n * row.n * row.causal, row.k, is_backward(table));
    const double seconds =
        attention_seconds(kernel, table.rates, {flops, row.k, row.n * row.causal, is_backward(table)});
    ratios.push_back(std::log(seconds / row.seconds));
  }
  return ratios;
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double above = below + 1 < values.size() ? values[below + 1] : values[below];
  return values[below] + (place - static_cast<double>(below)) * (above - values[below]);
}

/// Returns the objective of the fit: 0.7 of the median plus 0.3 of the mean of |log ratio|, with all tables weighted
/// equally. Impossible constants (a share above 1 or not above 0) get a large value.
double misfit(const std::vector<const KernelRows*>& tables, const std::vector<double>& constants) {
  if (std::ranges::any_of(constants, [](double one) { return !(one > 0); }) || constants[0] > 1) return 1e3;
  double sum = 0;
  for (const KernelRows* table : tables) {
    std::vector<double> errors = log_ratios(*table, constants);
    double mean = 0;
    for (double& error : errors) {
      error = std::abs(error);
      mean += error / static_cast<double>(errors.size());
    }
    sum += 0.7 * quantile(std::move(errors), 0.5) + 0.3 * mean;
  }
  return sum / static_cast<double>(tables.size());
}

std::pair<double, std::vector<double>> fit(const std::vector<const KernelRows*>& tables,
                                           const std::vector<double>& start) {
  const auto function = [&](const std::vector<double>& constants) { return misfit(tables, constants); };
  const auto best = test::minimise(function, start);
  return test::minimise(function, best.second);  // the simplex may have become flat
}

constexpr std::size_t kLeastKernelRows = 4;  // least number of rows of a fitted table

TEST(KernelValidation, ConstantsAreAFitAndTablesLeftOutAreAsDocumented) {
  test::DocumentedTable table("kernels",
                              {"family", "kernel", "library", "format", "tables", "rows", "constants",
                               "left out: median error", "nine of ten below"},
                              "docs/kernels.md");
  for (const KernelGroup& group : kernel_groups()) {
    const std::string name = fmt::format("{} {} {} {}", group.family, group.kind, group.library, group.format);
    const std::vector<double> constants = constants_of(group.tables.front());
    std::vector<const KernelRows*> all;
    for (const KernelRows& one : group.tables) {
      if (one.rows.size() >= kLeastKernelRows) all.push_back(&one);
    }
    const auto [least, refitted] = fit(all, constants);
    if (std::getenv("DADSIM_PRINT_VALIDATION") != nullptr)
      fmt::print("{}: {:.4g} at {:.4g}\n", name, least, fmt::join(refitted, ", "));
    EXPECT_LE(misfit(all, constants), 1.02 * least + 1e-4)
        << name << fmt::format(": fitted {:.4g}", fmt::join(refitted, ", "));
    std::vector<double> errors;
    for (const KernelRows* left_out : all) {
      std::vector<const KernelRows*> others = all;
      std::erase(others, left_out);
      const std::vector<double> by_others = others.empty() ? refitted : fit(others, refitted).second;
      for (const double ratio : log_ratios(*left_out, by_others)) errors.push_back(std::abs(std::exp(ratio) - 1));
    }
    table.add({group.family, group.kind, group.library, group.format, std::to_string(all.size()),
               std::to_string(errors.size()), std::to_string(constants.size()),
               fmt::format("{:.1f} %", 100 * quantile(errors, 0.5)),
               fmt::format("{:.1f} %", 100 * quantile(errors, 0.9))});
  }
  table.expect_in_document();
}

/// Predicts the products of a source that no constant was fitted to.
TEST(KernelValidation, ProductsOfASourceThatIsNotInTheFit) {
  const sim::ProductKernel& kernel = *sim::product_kernel(KernelFamily::blackwell, sim::KernelFormat::bits16);
  const sim::KernelRates rates =
      sim::kernel_rates(*sim::device_catalog().find("b200-sxm"), sim::KernelFormat::bits16).value();
  std::vector<double> errors;
  for (const auto& row : test::measured("grouped-products")) {
    if (row.at("kind") != "single") continue;
    const double m = std::stod(row.at("m"));
    const double n = std::stod(row.at("n"));
    const double k = std::stod(row.at("k"));
    const double measured = 2 * m * n * k / (std::stod(row.at("tflops")) * 1e12);
    errors.push_back(product_seconds(kernel, rates, {m, n, k, element_bytes(sim::KernelFormat::bits16)}) / measured -
                     1);
  }
  test::DocumentedTable table("kernels-of-another-source",
                              {"source", "device", "rows", "signed median error", "nine of ten"}, "docs/kernels.md");
  table.add({"SimuMax", "b200-sxm", std::to_string(errors.size()),
             fmt::format("{:+.1f} %", 100 * quantile(errors, 0.5)),
             fmt::format("{:+.1f} to {:+.1f} %", 100 * quantile(errors, 0.05), 100 * quantile(errors, 0.95))});
  table.expect_in_document();
}

/// Compares products of several experts in one kernel, by the geometric mean of their share of a deep product's rate.
TEST(KernelValidation, GroupedProductsReachLessThanSingleOnes) {
  const sim::ProductKernel& kernel = *sim::product_kernel(KernelFamily::blackwell, sim::KernelFormat::bits16);
  std::map<std::string, std::vector<double>> logs;
  for (const auto& row : test::measured("grouped-products"))
    logs[row.at("kind")].push_back(std::log(std::stod(row.at("tflops")) * (1 + kernel.depth / std::stod(row.at("k")))));
  const auto mean = [](const std::vector<double>& of) {
    double sum = 0;
    for (const double one : of) sum += one;
    return sum / static_cast<double>(of.size());
  };
  EXPECT_EQ(logs.at("grouped").size(), 60U);
  EXPECT_EQ(logs.at("single").size(), 446U);
  EXPECT_NEAR(kernel.grouped, std::exp(mean(logs.at("grouped")) - mean(logs.at("single"))), 0.01);
}

}  // namespace
}  // namespace dadsim
