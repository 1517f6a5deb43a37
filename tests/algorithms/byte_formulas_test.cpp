// Compares the bytes that a site sends on three networks with formulas of the papers, which need only the shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "algorithms/one_step.hpp"
#include "compress/registry.hpp"

namespace dadsim::algorithms {
namespace {

/// Bytes of one layer with p inputs, q outputs and biases.
using Formula = std::function<double(double p, double q)>;

struct SaidBytes {
  std::string algorithm;
  spec::ParameterValues parameters;
  std::string method;  ///< method of <compress>
  Formula bytes;
};

void PrintTo(const SaidBytes& said, std::ostream* out) { *out << said.algorithm << " " << said.method; }

class ByteFormulas : public testing::TestWithParam<SaidBytes> {};

TEST_P(ByteFormulas, AreWhatIsHandedOver) {
  const SaidBytes& said = GetParam();
  for (const std::vector<std::int64_t>& widths :
       {std::vector<std::int64_t>{784, 128, 10}, {30, 40, 50, 7}, {512, 256, 128, 64, 10}}) {
    test::OneStep::Setup setup;
    setup.widths = widths;
    setup.parameters = said.parameters;
    setup.compress.method = said.method;
    setup.compress.parameters = default_parameters(compress::compressors().at(said.method).parameters);
    double expected = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      expected += said.bytes(static_cast<double>(widths[l]), static_cast<double>(widths[l + 1]));
    }
    const test::OneStep step(said.algorithm, setup);
    for (const double bytes : step.uplink_bytes) EXPECT_EQ(bytes, expected) << widths.size() - 1 << " layers";
  }
}

/// Returns the formula for a gradient that is sent with its biases as one row of numbers.
Formula of_numbers(const std::function<double(double n)>& bytes) {
  return [bytes](double p, double q) { return bytes(p * q + q); };
}

/// Returns the fraction of n, rounded up.
double share(double fraction, double n) { return std::ceil(fraction * n - 1e-9); }

std::vector<SaidBytes> all_said() {
  std::vector<SaidBytes> all;
  const auto compressed = [&](const std::string& method, const std::function<double(double)>& bytes) {
    all.push_back({"gradient-sharing", {}, method, of_numbers(bytes)});
  };
  compressed("none", [](double n) { return 4 * n; });
  compressed("fp16", [](double n) { return 2 * n; });
  compressed("int8", [](double n) { return n + 4; });
  // Sparsifiers compress matrices only; biases are sent whole.
  const auto chosen = [&](const std::string& method, double bytes_per_number) {
    all.push_back({"gradient-sharing", {}, method, [bytes_per_number](double p, double q) {
                     return bytes_per_number * share(0.01, p * q) + 4 * q;
                   }});
  };
  chosen("top-k", 8);
  chosen("random-k", 4);
  chosen("random-block", 4);
  compressed("qsgd", [](double n) { return std::ceil(4 * n / 8) + 4 * std::ceil(n / 512); });
  compressed("terngrad", [](double n) { return std::ceil(2 * n / 8) + 4; });
  compressed("natural", [](double n) { return std::ceil(9 * n / 8); });
  compressed("sign", [](double n) { return std::ceil(n / 8) + 4; });
  all.push_back({"sign-sgd", {}, "none", of_numbers([](double n) { return std::ceil(n / 8); })});
  all.push_back({"dp-sgd", {}, "none", of_numbers([](double n) { return 4 * n; })});
  all.push_back(
      {"rgp", {{"rank", "4"}}, "none", [](double p, double q) { return 4 * (std::min(4 * (p + q), p * q) + q); }});
  all.push_back({"lsg", {{"rank", "4"}, {"density", "0.25"}}, "none", [](double p, double q) {
                   return 4 * (share(0.25, std::min(4 * (p + q), p * q)) + q);
                 }});
  all.push_back({"power-sgd", {{"rank", "2"}, {"least-compression", "0"}}, "none", [](double p, double q) {
                   return 4 * (2 * (p + q) + q);
                 }});
  all.push_back({"forward-gradient", {}, "none", of_numbers([](double n) { return 4 * n; })});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Papers, ByteFormulas, testing::ValuesIn(all_said()), [](const auto& param) {
  std::string name = param.param.algorithm + "_" + param.param.method;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace dadsim::algorithms
