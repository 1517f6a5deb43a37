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

/// What a site keeps of one matrix of gradients, from step to step, so that what compression leaves out is not lost.
///
/// *Requires*: add() and keep() in turn, with matrices of one shape.
class Memory {
 public:
  virtual ~Memory() = default;
  /// What is to be sent instead of the gradient.
  virtual models::Matrix add(models::Matrix gradient) = 0;
  /// `arrived`: what became of what add() gave last.
  virtual void keep(models::Matrix wanted, const models::Matrix& arrived) = 0;
  /// What it holds for later: nothing before the first step.
  virtual const models::Matrix& held() const = 0;
};

/// Error feedback (Seide et al., Interspeech 2014; Stich, Cordonnier, Jaggi, NeurIPS 2018, arXiv 1809.07599;
/// Karimireddy et al., ICML 2019, arXiv 1901.09847): what is sent is M = G + E, and E = M − what arrived.
class ErrorMemory final : public Memory {
 public:
  models::Matrix add(models::Matrix gradient) override;
  void keep(models::Matrix wanted, const models::Matrix& arrived) override;
  const models::Matrix& held() const override { return error_; }

 private:
  models::Matrix error_;
};

/// Momentum correction and factor masking of Deep Gradient Compression (Lin et al., ICLR 2018, arXiv 1712.01887,
/// sections 3.1 and 3.2): u ← m u + g, v ← v + u (with Nesterov's momentum u ← m (u + g), v ← v + u + g); what is sent
/// is v, and where an entry has been sent, u and v are zero. Before that a gradient whose norm is above a threshold is
/// scaled down to it (local gradient clipping, section 3.2). Of numbers that are all sent v is u, as in the authors'
/// program (synxlin/deep-gradient-compression, dgc/memory.py, compensate() without accumulation).
class MomentumMemory final : public Memory {
 public:
  struct Options {
    float momentum = 0.9F;
    bool nesterov = false;
    bool masking = true;  ///< false: u keeps its value where an entry has been sent
    float clip = 0;       ///< greatest 2-norm of a site's gradient; 0: any
  };
  explicit MomentumMemory(const Options& options) : options_(options) {}
  models::Matrix add(models::Matrix gradient) override;
  void keep(models::Matrix wanted, const models::Matrix& arrived) override;
  const models::Matrix& held() const override { return sum_; }

 private:
  Options options_;
  models::Matrix velocity_, sum_;  ///< u, v
};

/// What a compressor learns of one site's matrix from step to step (SIDCo: how many stages fit its tails).
class CompressorState {
 public:
  virtual ~CompressorState() = default;
};

/// When and for whom a message is made: what its random numbers are drawn by.
struct EncodeContext {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t message = 0;         ///< unlike that of any other message of the step
  std::uint32_t matrix = 0;          ///< within the step; the same at every site for what is exchanged together
  CompressorState* state = nullptr;  ///< as make_state() has made it for this site and matrix
  /// What is encoded is the sum of what has been encoded, in the same context but for `message`, by all sites.
  bool sum = false;

  /// This message's own numbers. A receiver does not have them, unless they are drawn from a seed that is sent.
  RandomStream own() const { return {seed, Purpose::rounding, message, step}; }
  /// The same numbers at every site, and at whoever receives the message.
  RandomStream shared() const { return {seed, Purpose::coordinates, matrix, step}; }
};

/// How many numbers a message stands for, in symbols.
struct Amount {
  // NOLINTNEXTLINE(google-explicit-constructor): how many of them are kept matters to few
  Amount(step::Expression all, step::Expression of_them = {}) : elements(std::move(all)), kept(std::move(of_them)) {}
  Amount(double all) : elements(all) {}  // NOLINT(google-explicit-constructor)
  step::Expression elements;
  step::Expression kept;  ///< of them; of compressors that adapt alone
};

/// How the numbers of a matrix become the bytes of a message, and numbers again. It goes between any algorithm and its
/// exchange: on gradients, on dAD's A and Δ, on rank-dAD's factors, on weights.
///
/// *Ensures*: decode() reads just what encode() wrote, in the same context; size() has the segments that encode()
/// writes, for any number of elements; the same numbers and context give the same bytes.
///
/// EXAMPLE: src/compress/int8.cpp.
class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Appends the numbers to a message. Returns how many of them it stands for: all, or those that were kept.
  virtual std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const = 0;
  /// Fills a block of the shape that was encoded. Those that were not kept are zero.
  virtual void decode(Decoder& from, const EncodeContext& context, models::MutableBlock into) const = 0;

  /// What they take, segment by segment.
  virtual std::vector<step::Payload> size(const Amount& numbers) const = 0;
  /// What that costs where it is done.
  virtual step::Work encode_work(const Amount& numbers) const = 0;
  virtual step::Work decode_work(const Amount& numbers) const = 0;
  /// What it costs to decode messages of `all` numbers into a sum of `elements` of them; none: they are decoded one by
  /// one, and added.
  virtual std::optional<step::Work> decode_into_sum_work(const step::Expression& elements, const Amount& all) const;
  /// What its memory costs where it is kept: without a word of its own, M = G + E, what arrived of it, and E anew.
  virtual step::Work memory_work(const Amount& numbers) const;

  /// Null: there is nothing to learn.
  virtual std::unique_ptr<CompressorState> make_state() const { return nullptr; }
  /// What a site that remembers does with what was lost.
  virtual std::unique_ptr<Memory> make_memory() const { return std::make_unique<ErrorMemory>(); }
  /// What all make of a sum over so many sites that goes uncompressed beside those that are compressed (biases, norms
  /// …), where sites remember. Methods with momentum have it; null: it is applied as it is.
  virtual std::unique_ptr<Memory> make_memory_of_uncompressed(std::size_t /*sites*/) const { return nullptr; }
};

using spec::Property;

/// Everything there is to know about a compressor without running it.
struct CompressorInfo {
  std::string name;         ///< as in <compress method="…">
  std::string description;  ///< one sentence
  std::string source;       ///< paper or standard
  std::string size;         ///< bytes of n numbers
  /// Encoded numbers can be added on the way, so that an all-reduce carries them; others go by an all-gather among
  /// peers.
  Property adds = false;
  bool lossless = false;  ///< what is decoded is what was encoded, to the bit
  /// How many numbers are kept is found by looking at them: sizes are known once they are there.
  bool adapts = false;
  /// An aggregator hands the messages of all sites on, as it would hand back hardly less by compressing their sum.
  Property forwards = false;
  /// What is lost is missed for good unless it is remembered: where the method may remember, it does so by default.
  Property biased = false;
  /// Of a compressor that keeps some numbers as they are: of so many of them, at most how many. None: it changes all,
  /// or there is no telling before it has seen them.
  std::function<step::Expression(const spec::ParameterValues&, const step::Expression& elements)> keeps = nullptr;
  /// Momentum is part of what is sent: the optimizer must not have one.
  bool has_momentum = false;
  /// Of the gradient of a layer it compresses the matrix alone: biases go beside it as they are.
  bool leaves_biases = false;
  std::string family = "quantisation";  ///< or "sparsification"
  std::string formula = {};             ///< a line per formula
  std::string checks = {};              ///< what it has been held against, and how near it came; a line each
  std::vector<spec::ParameterSpec> parameters;
  std::function<std::unique_ptr<Compressor>(const spec::ParameterValues&)> make;
};

/// Every parameter at its default.
spec::ParameterValues default_parameters(const CompressorInfo& info);

/// A number of kept entries as a share of all, in billionths, rounded down: kept_of() finds the number again. The same
/// share is kept of a matrix of another size.
std::int32_t share_of(std::int64_t kept, std::int64_t elements);
/// ⌈share · elements⌉; `share` in billionths. Throws nothing: it is an expression.
step::Expression kept_of(const step::Expression& share, const step::Expression& elements);

}  // namespace dadsim::compress
