#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/layer_passes.hpp"
#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// Returns the network with its passes besides products, and its kernels, in such a program (docs/kernels.md has the
/// counts). In 16 bit it is automatic mixed precision: fp32 parameters are cast in each forward pass, and their
/// gradients back; norms, softmax and sums with shortcuts are in fp32, except after convolutions. `operator_seconds`:
/// host time per kernel; 0: from src/spec/programs.csv. A typical program leaves the network unchanged.
ModelShape with_program(ModelShape model, Program program, Precision precision, double operator_seconds = 0);

/// Adds what PyTorch's DTensor costs where `tensor` devices divide layers and the sequence: a copy of every gathered
/// input and of every output before it is scattered, because collectives divide the first dimension and the sequence
/// is the second (torch/distributed/_functional_collectives.py, PyTorch 2.8); and the host's work for each product.
/// Other programs are left unchanged.
ModelShape with_divided_program(ModelShape model, Precision precision, std::int32_t tensor);

/// Returns whether a norm is by the root mean square: it has a scale for each number of a row, but no shift. Its rows
/// are as wide as the next matrix.
bool is_rms_norm(const ModelShape& model, std::size_t position);

}  // namespace dadsim::spec
