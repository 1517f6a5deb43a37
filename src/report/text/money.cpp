#include "report/text/money.hpp"

#include <fmt/format.h>

#include "support/human.hpp"

namespace dadsim::report {

std::string money_in_words(double money, const std::string& currency) {
  return money < 1 ? fmt::format("{:.3g} {}", money, currency) : fmt::format("{:.2f} {}", money, currency);
}

std::string carbon_in_words(double grams) {
  return grams < 1000 ? fmt::format("{:.3g} g CO2e", grams) : fmt::format("{:.4g} kg CO2e", grams / 1000);
}

std::string costs_in_words(const std::optional<double>& money, const std::optional<double>& joules,
                           const std::optional<double>& carbon, const std::string& currency) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (money) add(money_in_words(*money, currency));
  if (joules) add(human_energy(*joules));
  if (carbon) add(carbon_in_words(*carbon));
  return text.empty() ? "not known" : text;
}

}  // namespace dadsim::report
