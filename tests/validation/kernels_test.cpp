// Compares published kernel times with sim/devices/kernels.csv, whose constants are fitted to these rows. Also predicts
// each table by a fit to all other tables (docs/kernels.md).
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

struct KernelRow {
  double m = 0, n = 0, k = 0, causal = 1, seconds = 0;
};

/// A published table: one source, device, library and format.
struct KernelRows {
  std::string name, kind;
  std::string family;
  sim::KernelFormat format = sim::KernelFormat::bits16;
  spec::FlashLibrary library = spec::FlashLibrary::any;
  sim::KernelRates rates;
  std::vector<KernelRow> rows;
  bool by_any = false;  ///< true: predicted with the constants of all families
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
    table.family = cells["family"];
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
/// Few sources measured backward over all libraries. Its fixed time and depth are therefore those of the forward pass.
bool is_as_forward(const KernelRows& table) {
  return is_backward(table) && table.library == spec::FlashLibrary::any && !table.by_any;
}
KernelRows as_any(KernelRows table) {
  table.by_any = true;
  return table;
}
const sim::AttentionKernel& attention_of(const KernelRows& table) {
  return *sim::attention_kernel(table.family, table.format, is_backward(table), table.library);
}

/// Returns the fitted constants in order, with times in microseconds.
std::vector<double> constants_of(const KernelRows& table) {
  if (is_product(table)) {
    const sim::ProductKernel& kernel =
        *sim::product_kernel(table.by_any ? spec::kAnyKernels : table.family, table.format);
    std::vector<double> constants{kernel.share, kernel.fixed * 1e6, kernel.depth};
    if (kernel.units > 0) constants.insert(constants.end(), {kernel.last_wave, kernel.halving});
    if (kernel.cast > 0) constants.push_back(kernel.cast);
    return constants;
  }
  const sim::AttentionKernel& kernel =
      table.by_any ? *sim::attention_kernel(spec::kAnyKernels, table.format, is_backward(table)) : attention_of(table);
  if (is_as_forward(table)) return {kernel.share, kernel.exponentials};
  return {kernel.share, kernel.exponentials, kernel.fixed * 1e6, kernel.length};
}

double element_bytes(sim::KernelFormat format) {
  return format == sim::KernelFormat::bits16 ? 2 : format == sim::KernelFormat::nvfp4 ? 0.5 : 1;
}

/// Returns log(predicted ÷ measured) of the rows with these constants.
std::vector<double> log_ratios(const KernelRows& table, const std::vector<double>& constants) {
  std::vector<double> ratios;
  ratios.reserve(table.rows.size());
  if (is_product(table)) {
    sim::ProductKernel kernel = *sim::product_kernel(table.family, table.format);
    if (table.by_any) kernel.units = 0;
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

/// Returns 0.7 of the median plus 0.3 of the mean of |log ratio|.
double misfit_of(std::vector<double> errors) {
  double mean = 0;
  for (double& error : errors) {
    error = std::abs(error);
    mean += error / static_cast<double>(errors.size());
  }
  return 0.7 * quantile(std::move(errors), 0.5) + 0.3 * mean;
}

/// Returns the objective of the fit: the mean of misfit_of, with all tables weighted equally. Impossible constants (a
/// share above 1, one not above 0, a last wave that takes longer than a wave) get a large value.
double misfit(const std::vector<const KernelRows*>& tables, const std::vector<double>& constants) {
  if (std::ranges::any_of(constants, [](double one) { return !(one > 0); }) || constants[0] > 1) return 1e3;
  double sum = 0;
  for (const KernelRows* table : tables) {
    if (is_product(*table) && sim::product_kernel(table->family, table->format)->units > 0 && constants[3] > 1)
      return 1e3;
    sum += misfit_of(log_ratios(*table, constants));
  }
  return sum / static_cast<double>(tables.size());
}

std::pair<double, std::vector<double>> fit(const std::vector<const KernelRows*>& tables,
                                           const std::vector<double>& start) {
  const auto function = [&](const std::vector<double>& constants) { return misfit(tables, constants); };
  const auto best = test::minimise(function, start);
  return test::minimise(function, best.second);  // starts again, since the simplex may have become flat
}

constexpr std::size_t kLeastKernelRows = 4;  // least number of rows that a fitted table must have
constexpr double kNineOfTen = 0.9;

std::string name_of(const KernelGroup& group) {
  return fmt::format("{} {} {} {}", group.family, group.kind, group.library, group.format);
}

/// Returns the factor within which nine of ten of the rows are predicted.
double spread_of(const std::vector<std::vector<double>>& tables) {
  std::vector<double> errors;
  for (const std::vector<double>& table : tables) {
    for (const double ratio : table) errors.push_back(std::abs(ratio));
  }
  return std::exp(quantile(std::move(errors), kNineOfTen));
}

/// Returns log(predicted ÷ measured) of the products of a source that no constant was fitted to.
std::vector<double> ratios_of_another_source() {
  const sim::ProductKernel& kernel = *sim::product_kernel("blackwell", sim::KernelFormat::bits16);
  const sim::KernelRates rates =
      sim::kernel_rates(*sim::device_catalog().find("b200-sxm"), sim::KernelFormat::bits16).value();
  std::vector<double> ratios;
  for (const auto& row : test::measured("grouped-products")) {
    if (row.at("kind") != "single") continue;
    const double m = std::stod(row.at("m"));
    const double n = std::stod(row.at("n"));
    const double k = std::stod(row.at("k"));
    const double measured = 2 * m * n * k / (std::stod(row.at("tflops")) * 1e12);
    ratios.push_back(
        std::log(product_seconds(kernel, rates, {m, n, k, element_bytes(sim::KernelFormat::bits16)}) / measured));
  }
  return ratios;
}

TEST(KernelValidation, ConstantsAreAFitAndTablesLeftOutAreAsDocumented) {
  test::DocumentedTable table("kernels",
                              {"family", "kernel", "library", "format", "tables", "rows", "constants",
                               "left out: median error", "nine of ten below"},
                              "docs/kernels.md");
  std::map<std::string, std::vector<std::vector<double>>> left_out, several;  // log ratios of tables left out
  for (const KernelGroup& group : kernel_groups()) {
    const std::string name = name_of(group);
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
    for (const KernelRows* one : all) {
      std::vector<const KernelRows*> others = all;
      std::erase(others, one);
      const std::vector<double> by_others = others.empty() ? refitted : fit(others, refitted).second;
      left_out[name].push_back(log_ratios(*one, by_others));
      for (const double ratio : left_out[name].back()) errors.push_back(std::abs(std::exp(ratio) - 1));
    }
    if (all.size() > 1) {
      std::vector<std::vector<double>>& kind = several[is_product(*all.front()) ? "product" : "attention"];
      kind.insert(kind.end(), left_out[name].begin(), left_out[name].end());
    }
    table.add({group.family, group.kind, group.library, group.format, std::to_string(all.size()),
               std::to_string(errors.size()), std::to_string(constants.size()),
               fmt::format("{:.1f} %", 100 * quantile(errors, 0.5)),
               fmt::format("{:.1f} %", 100 * quantile(errors, 0.9))});
  }
  table.expect_in_document();
  left_out.at("blackwell product  16-bit").push_back(ratios_of_another_source());
  // A spread is what a table that is left out needs. A single table says nothing of others: it has the spread of all
  // tables of its kind.
  for (const KernelGroup& group : kernel_groups()) {
    const KernelRows& one = group.tables.front();
    const std::string kind = is_product(one) ? "product" : "attention";
    const auto& own = left_out.at(name_of(group));
    const double needed = own.size() > 1 ? spread_of(own) : std::max(spread_of(own), spread_of(several.at(kind)));
    const double spread =
        is_product(one) ? sim::product_kernel(one.family, one.format)->spread : attention_of(one).spread;
    EXPECT_NEAR(spread, needed, 0.006) << name_of(group);
  }
}

/// Predicts a family's tables by constants that are common to all other families: those of devices that nobody
/// measured. Attention takes the exponentials of its own device's data sheet.
TEST(KernelValidation, ConstantsOfAllFamiliesAreAFitAndFamiliesLeftOutAreInTheirSpread) {
  test::DocumentedTable document("kernels-of-other-families",
                                 {"kernel", "format", "families", "median error", "nine of ten within a factor of"},
                                 "docs/kernels.md");
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<KernelRows>>> kinds;
  for (KernelGroup& group : kernel_groups()) {
    if (!group.library.empty()) continue;
    for (KernelRows& table : group.tables)
      kinds[{group.kind, group.format}][group.family].push_back(as_any(std::move(table)));
  }
  for (const auto& [kind, families] : kinds) {
    if (families.size() < 2) continue;
    const KernelRows& first = families.begin()->second.front();
    const auto misfit_without = [&](const std::string& without, const std::vector<double>& constants) {
      if (std::ranges::any_of(constants, [](double one) { return !(one > 0); }) || constants[0] > 1) return 1e3;
      double sum = 0;
      for (const auto& [family, tables] : families) {
        if (family == without) continue;
        for (const KernelRows& table : tables)
          sum += misfit_of(log_ratios(table, constants)) / static_cast<double>(tables.size());
      }
      return sum / static_cast<double>(families.size() - (families.contains(without) ? 1 : 0));
    };
    const auto fit_without = [&](const std::string& without, const std::vector<double>& start) {
      const auto function = [&](const std::vector<double>& constants) { return misfit_without(without, constants); };
      return test::minimise(function, test::minimise(function, start, 1e-5, 300).second, 1e-5, 300);
    };
    const std::vector<double> constants = constants_of(first);
    const auto [least, refitted] = fit_without("", constants);
    EXPECT_LE(misfit_without("", constants), 1.02 * least + 1e-4)
        << kind.first << kind.second << fmt::format(": fitted {:.4g}", fmt::join(refitted, ", "));
    std::vector<double> errors;
    for (const auto& [family, tables] : families) {
      const std::vector<double> by_others = fit_without(family, refitted).second;
      for (const KernelRows& table : tables) {
        for (const double ratio : log_ratios(table, by_others)) errors.push_back(std::abs(ratio));
      }
    }
    const double needed = std::exp(quantile(errors, kNineOfTen));
    const double spread = is_product(first)
                              ? sim::product_kernel(spec::kAnyKernels, first.format)->spread
                              : sim::attention_kernel(spec::kAnyKernels, first.format, is_backward(first))->spread;
    EXPECT_NEAR(spread, needed, 0.006) << kind.first << ' ' << kind.second;
    document.add({kind.first, kind.second, std::to_string(families.size()),
                  fmt::format("{:.1f} %", 100 * std::expm1(quantile(errors, 0.5))), fmt::format("{:.2f}", needed)});
  }
  document.expect_in_document();
}

/// Predicts products of a source that no constant was fitted to.
TEST(KernelValidation, ProductsOfASourceThatIsNotInTheFit) {
  std::vector<double> errors;
  for (const double ratio : ratios_of_another_source()) errors.push_back(std::expm1(ratio));
  test::DocumentedTable table("kernels-of-another-source",
                              {"source", "device", "rows", "signed median error", "nine of ten"}, "docs/kernels.md");
  table.add({"SimuMax", "b200-sxm", std::to_string(errors.size()),
             fmt::format("{:+.1f} %", 100 * quantile(errors, 0.5)),
             fmt::format("{:+.1f} to {:+.1f} %", 100 * quantile(errors, 0.05), 100 * quantile(errors, 0.95))});
  table.expect_in_document();
}

/// Compares grouped products of several experts by their geometric-mean rate, relative to one deep product.
TEST(KernelValidation, GroupedProductsReachLessThanSingleOnes) {
  const sim::ProductKernel& kernel = *sim::product_kernel("blackwell", sim::KernelFormat::bits16);
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
