#pragma once

#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// Returns the network with the activations that a program keeps for the backward pass; only memory changes.
/// - typical, tuned and compiled: a gated activation is one kernel, which keeps gate, up and their product, but no
///   output of the activation function (Megatron-LM's bias_swiglu_fusion).
/// - eager, compiled and graphs, with `autocast` from fp32 weights: sums with shortcuts, which norms keep, are fp32.
///   Except in a compiled program, the output of a norm is cast once for each product that reads it.
/// - eager and graphs: a root-mean-square norm composed of operators keeps its normalised input as well.
/// - compiled: class scores are kept in the format of products, and their gradients are written over them.
/// - eager, compiled and graphs: max pooling keeps its output and indices of 64 bits, and autocast the fp32 images.
/// Counts of an eager program follow PyTorch's operators; peaks of tests/validation/pytorch-h100.csv agree.
ModelShape with_activations_of(ModelShape model, Program program, Precision precision, bool autocast);

}  // namespace dadsim::spec
