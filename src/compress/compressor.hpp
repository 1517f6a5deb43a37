#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compress/message.hpp"
#include "models/matrix.hpp"
#include "spec/parameter.hpp"
#include "spec/property.hpp"
#include "support/random.hpp"

namespace dadsim::compress {

/// Memory of one site for one gradient matrix, kept between steps so that compression losses can be sent later.
///
/// *Requires* add() and keep() in turn, with matrices of one shape.
class Memory {
 public:
  virtual ~Memory() = default;
  /// Returns the matrix to send instead of the gradient.
  virtual models::Matrix add(models::Matrix gradient) = 0;
  /// Updates the memory. `wanted`: the matrix that the last add() returned; `arrived`: that matrix as decoded.
  virtual void keep(models::Matrix wanted, const models::Matrix& arrived) = 0;
  /// Returns the stored matrix; empty before the first step.
  virtual const models::Matrix& held() const = 0;
};

/// Error feedback (Seide et al., Interspeech 2014; Stich, Cordonnier, Jaggi, NeurIPS 2018, arXiv 1809.07599;
/// Karimireddy et al., ICML 2019, arXiv 1901.09847): sends M = G + E, and keeps E = M − the arrived matrix.
class ErrorMemory final : public Memory {
 public:
  models::Matrix add(models::Matrix gradient) override;
  void keep(models::Matrix wanted, const models::Matrix& arrived) override;
  const models::Matrix& held() const override { return error_; }

 private:
  models::Matrix error_;
};

/// EF21 (Richtárik, Sokolov, Fatkhullin, NeurIPS 2021, arXiv 2106.05203, algorithm 2): sends the difference between the
/// gradient and its estimate, which all receivers have; the estimate moves by what arrived, and starts at zero.
class EstimateMemory final : public Memory {
 public:
  models::Matrix add(models::Matrix gradient) override;
  void keep(models::Matrix wanted, const models::Matrix& arrived) override;
  const models::Matrix& held() const override { return estimate_; }

 private:
  models::Matrix estimate_;
};

/// Momentum correction and factor masking of Deep Gradient Compression (Lin et al., ICLR 2018, arXiv 1712.01887,
/// sections 3.1 and 3.2): u ← m u + g, v ← v + u (with Nesterov's momentum u ← m (u + g), v ← v + u + g); v is sent,
/// and u and v become zero at sent entries. Before that a gradient whose norm is above a threshold is scaled down to it
/// (local gradient clipping, section 3.2). If all numbers are sent, v is u, as in the authors' program
/// (synxlin/deep-gradient-compression, dgc/memory.py, compensate() without accumulation).
class MomentumMemory final : public Memory {
 public:
  struct Options {
    float momentum = 0.9F;
    bool nesterov = false;
    bool masking = true;  ///< false: u keeps its value at sent entries
    float clip = 0;       ///< greatest 2-norm of a site's gradient; 0: no limit
  };
  explicit MomentumMemory(const Options& options) : options_(options) {}
  models::Matrix add(models::Matrix gradient) override;
  void keep(models::Matrix wanted, const models::Matrix& arrived) override;
  const models::Matrix& held() const override { return sum_; }

 private:
  Options options_;
  models::Matrix velocity_, sum_;  ///< u, v
};

/// State per site and matrix that an adaptive compressor keeps between steps (SIDCo: the number of stages).
class CompressorState {
 public:
  virtual ~CompressorState() = default;
};

/// Context of a message, which selects its random numbers.
struct EncodeContext {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t message = 0;         ///< unique within the step
  std::uint32_t matrix = 0;          ///< number within the step; sites use the same number for matrices that they
                                     ///< exchange
  CompressorState* state = nullptr;  ///< from make_state(), for this site and matrix
  /// True: the encoded matrix is a sum over all sites of matrices encoded in the same context, except for `message`.
  bool sum = false;

  /// Returns random numbers of this message alone. A receiver has the same only if their seed is sent.
  RandomStream own() const { return {seed, Purpose::rounding, message, step}; }
  /// Returns random numbers that are the same at every site and receiver.
  RandomStream shared() const { return {seed, Purpose::coordinates, matrix, step}; }
};

/// Symbolic count of a message's numbers.
struct Amount {
  // NOLINTNEXTLINE(google-explicit-constructor): few callers need the kept part
  Amount(step::Expression all, step::Expression of_them = {}) : elements(std::move(all)), kept(std::move(of_them)) {}
  Amount(double all) : elements(all) {}  // NOLINT(google-explicit-constructor)
  step::Expression elements;
  step::Expression kept;  ///< kept numbers; only for compressors that adapt
  /// Shape of the matrix that comes first and is encoded separately; none: all numbers form a vector.
  step::Expression rows = {}, columns = {};

  /// Returns the amount of `all` numbers: a matrix, followed by its biases.
  static Amount of_matrix(const step::Expression& rows, const step::Expression& columns, step::Expression all) {
    Amount amount{std::move(all)};
    amount.rows = rows;
    amount.columns = columns;
    return amount;
  }
};

/// Encodes the numbers of a matrix as bytes of a message, and decodes them. All algorithms can use it: for gradients,
/// dAD's A and Δ, rank-dAD's factors, weights.
///
/// *Ensures* three properties. decode() reads exactly the bytes that encode() wrote, in the same context. size() has
/// the segments that encode() writes, for any number of elements. The same numbers and context give the same bytes.
///
/// EXAMPLE: src/compress/int8.cpp.
class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Appends the numbers to a message. Returns the count of kept numbers.
  virtual std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const = 0;
  /// Fills a block of the encoded shape, with zeros for numbers that were not kept.
  virtual void decode(Decoder& from, const EncodeContext& context, models::MutableBlock into) const = 0;

  /// Returns the encoded size, segment by segment.
  virtual std::vector<step::Payload> size(const Amount& numbers) const = 0;
  /// Returns the work of encoding or decoding.
  virtual step::Work encode_work(const Amount& numbers) const = 0;
  virtual step::Work decode_work(const Amount& numbers) const = 0;
  /// Returns the work of adding messages of `all` numbers to a sum of `elements` numbers. None: each message is decoded
  /// first, then added.
  virtual std::optional<step::Work> decode_into_sum_work(const step::Expression& elements, const Amount& all) const;
  /// Returns the work of a site's Memory per message. Default: M = G + E, decoding, and the new E.
  virtual step::Work memory_work(const Amount& numbers) const;

  /// Returns new state; null: the compressor has none.
  virtual std::unique_ptr<CompressorState> make_state() const { return nullptr; }
  /// Returns a new memory of a site.
  virtual std::unique_ptr<Memory> make_memory() const { return std::make_unique<ErrorMemory>(); }
  /// Returns a memory for uncompressed sums over `sites` sites (biases, norms …) of a compressor with momentum. Null:
  /// sums are applied unchanged.
  virtual std::unique_ptr<Memory> make_memory_of_uncompressed(std::size_t /*sites*/) const { return nullptr; }
};

using spec::Property;

/// Description of a compressor.
struct CompressorInfo {
  std::string name;  ///< name in <compress method="…">; docs/algorithms/compress-NAME.md describes it
  /// Encoded numbers can be added inside the network: peers use an all-reduce. Otherwise they use an all-gather.
  Property adds = false;
  bool lossless = false;  ///< decoding restores the encoded numbers bit for bit
  /// The number of kept entries depends on the numbers: sizes are known only after encoding.
  bool adapts = false;
  /// True: an aggregator forwards the messages of all sites, because their sum would hardly compress.
  Property forwards = false;
  /// True: left-out numbers are lost unless remembered, so that memory is on by default.
  Property biased = false;
  /// Returns the largest count of numbers kept of `elements`, for a compressor that keeps some unchanged. Null: all
  /// numbers change, or the count depends on them.
  std::function<step::Expression(const spec::ParameterValues&, const step::Expression& elements)> keeps = nullptr;
  /// Messages include momentum: the optimizer must not add its own.
  bool has_momentum = false;
  /// Compresses only the matrix of a layer's gradient; biases are sent uncompressed.
  bool leaves_biases = false;
  /// Encodes each matrix in its shape, and biases separately; other compressors get both as one row.
  bool of_matrices = false;
  std::string family = "quantisation";  ///< or "sparsification"
  std::vector<spec::ParameterSpec> parameters;
  std::function<std::unique_ptr<Compressor>(const spec::ParameterValues&)> make;
};

/// Returns the share of kept entries in billionths, rounded down; kept_of() restores the count. Matrices of other sizes
/// keep the same share.
std::int32_t share_of(std::int64_t kept, std::int64_t elements);
/// Returns the expression ⌈share · elements⌉; `share` in billionths.
step::Expression kept_of(const step::Expression& share, const step::Expression& elements);

}  // namespace dadsim::compress
