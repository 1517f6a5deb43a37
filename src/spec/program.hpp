#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/layer_passes.hpp"
#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// Returns the network with the memory passes and kernels of a program, in addition to its products (docs/kernels.md
/// has the counts). In PyTorch's programs, a 16-bit precision means automatic mixed precision: fp32 parameters are cast
/// in each forward pass, and their gradients back; norms, softmax and residual sums are in fp32, except after
/// convolutions. `operator_seconds`: host time per kernel; 0: from src/spec/programs.csv. A typical program leaves the
/// network unchanged.
ModelShape with_program(ModelShape model, Program program, Precision precision, double operator_seconds = 0);

/// Returns the network with the costs of PyTorch's DTensor, for layers and a sequence that `tensor` devices divide.
/// Every gathered input, and every output before its scatter, is copied, because collectives divide the first dimension
/// and the sequence is the second (torch/distributed/_functional_collectives.py, PyTorch 2.8). The host needs more time
/// for each product. Programs other than PyTorch's are left unchanged.
ModelShape with_divided_program(ModelShape model, Precision precision, std::int32_t tensor);

/// Returns whether a norm is a root-mean-square norm: it has a scale for each number of a row, but no shift. Its rows
/// are as wide as the inputs of the next matrix.
bool is_rms_norm(const ModelShape& model, std::size_t position);

}  // namespace dadsim::spec
