// Benchmarks the matrix products of training steps, dadsim's against Eigen's and OpenBLAS's, on one thread. A benchmark
// runs the three in turn and records the fastest call of each. `vs_eigen` and `vs_openblas` are dadsim's speed ÷ the
// peer's speed; below 1, dadsim is slower.
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
#include <utility>

#include "models/gemm/product.hpp"
#include "support/random.hpp"

namespace dadsim {
namespace {

using models::Matrix;

Matrix random_matrix(Eigen::Index rows, Eigen::Index columns) {
  RandomStream random(1, Purpose::test);
  boost::random::normal_distribution<float> normal;
  Matrix matrix(rows, columns);
  for (float& x : matrix.reshaped()) x = normal(random);
  return matrix;
}

/// Processor time of the fastest call, which other jobs on the machine disturb least.
class Quickest {
 public:
  template <class Product>
  void time(const Product& product) {
    const double start = thread_seconds();
    product();
    benchmark::ClobberMemory();
    seconds_ = std::min(seconds_, thread_seconds() - start);
  }
  double seconds() const { return seconds_; }

 private:
  static double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  double seconds_ = std::numeric_limits<double>::max();
};

/// Products of a layer of in × out; C and both operands are row-major.
enum class Kind {
  forward,   ///< Y = X Wᵀ:  rows × out, summed over in
  backward,  ///< dX = Δ W:  rows × in, summed over out
  weight,    ///< dW = Δᵀ X: out × in, summed over rows
};

struct Layer {
  const char* name;
  std::int64_t rows, in, out;
};

void blas(Kind kind, const Matrix& a, const Matrix& b, Matrix& c) {
  const auto inner = static_cast<blasint>(kind == Kind::weight ? a.rows() : a.cols());
  cblas_sgemm(CblasRowMajor, kind == Kind::weight ? CblasTrans : CblasNoTrans,
              kind == Kind::forward ? CblasTrans : CblasNoTrans, static_cast<blasint>(c.rows()),
              static_cast<blasint>(c.cols()), inner, 1, a.data(), static_cast<blasint>(a.cols()), b.data(),
              static_cast<blasint>(b.cols()), 0, c.data(), static_cast<blasint>(c.cols()));
}

void eigen(Kind kind, const Matrix& a, const Matrix& b, Matrix& c) {
  switch (kind) {
    case Kind::forward:
      c.noalias() = a * b.transpose();
      return;
    case Kind::backward:
      c.noalias() = a * b;
      return;
    case Kind::weight:
      c.noalias() = a.transpose() * b;
      return;
  }
}

void ours(Kind kind, const Matrix& a, const Matrix& b, Matrix& c) {
  switch (kind) {
    case Kind::forward:
      models::multiply_transposed<float>(a, b, {}, c);
      return;
    case Kind::backward:
      models::multiply<float>(a, b, c);
      return;
    case Kind::weight:
      models::multiply_by_rows<float>(a, b, c);
      return;
  }
}

void compare(benchmark::State& state, Kind kind, Layer layer) {
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  const Matrix x = random_matrix(layer.rows, layer.in);
  const Matrix weight = random_matrix(layer.out, layer.in);
  const Matrix delta = random_matrix(layer.rows, layer.out);
  const Matrix& a = kind == Kind::forward ? x : delta;
  const Matrix& b = kind == Kind::weight ? x : weight;
  Matrix c = kind == Kind::weight ? weight : kind == Kind::forward ? delta : x;
  Matrix eigens = c;
  Matrix blass = c;
  Quickest our, eigen_s, blas_s;
  for (auto _ : state) {
    our.time([&] { ours(kind, a, b, c); });
    eigen_s.time([&] { eigen(kind, a, b, eigens); });
    blas_s.time([&] { blas(kind, a, b, blass); });
  }
  // Eigen and OpenBLAS add in another order, so results differ slightly.
  const float apart = std::max((c - eigens).cwiseAbs().maxCoeff(), (c - blass).cwiseAbs().maxCoeff());
  if (!(apart <= 1e-5F * static_cast<float>(layer.rows + layer.in + layer.out))) {
    state.SkipWithError("the products differ");
  }
  const double flops = 2.0 * static_cast<double>(layer.rows) * static_cast<double>(layer.in * layer.out);
  state.counters["Gflop/s"] = 1e-9 * flops / our.seconds();
  state.counters["vs_eigen"] = eigen_s.seconds() / our.seconds();
  state.counters["vs_openblas"] = blas_s.seconds() / our.seconds();
}

// Rows are the samples (or tokens, or pixels) of all sites together; perceptrons have 32 rows per site.
constexpr Layer kLayers[] = {
    {"perceptron", 64, 784, 1024}, {"perceptron", 256, 784, 1024},   {"perceptron", 256, 1024, 1024},
    {"perceptron", 256, 512, 512}, {"perceptron", 2048, 1024, 1024}, {"classes", 256, 1024, 10},
    {"gru", 2976, 128, 384},       {"attention", 4096, 64, 64},      {"block", 4096, 64, 256},
    {"block", 4096, 256, 64},      {"convolution", 8192, 144, 32},   {"square", 2048, 2048, 2048},
};

void register_products() {
  for (const Layer& layer : kLayers) {
    for (const auto& [kind, what] : {std::pair(Kind::forward, "forward"), std::pair(Kind::backward, "backward"),
                                     std::pair(Kind::weight, "weight")}) {
      const std::string name = std::string(what) + "/" + layer.name + "/" + std::to_string(layer.rows) + "x" +
                               std::to_string(layer.in) + "x" + std::to_string(layer.out);
      benchmark::RegisterBenchmark(name.c_str(), [kind = kind, layer](benchmark::State& state) {
        compare(state, kind, layer);
      })->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace dadsim

int main(int count, char** words) {
  openblas_set_num_threads(1);
  dadsim::register_products();
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
