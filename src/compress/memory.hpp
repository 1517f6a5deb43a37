#pragma once

#include "models/matrix.hpp"

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

}  // namespace dadsim::compress
