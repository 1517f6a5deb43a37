#pragma once

#include "spec/layer_passes.hpp"
#include "spec/layer_shape.hpp"
#include "spec/precision.hpp"

namespace dadsim::spec {

/// The network with what such a program passes over beside its products, and how many kernels it begins
/// (docs/kernels.md has the counts). In 16 bit it is automatic mixed precision: parameters in fp32 are cast in each
/// pass forward, and their gradients back; norms, softmax and sums with shortcuts are in fp32, but for those behind
/// convolutions. `operator_seconds`: of the host for each kernel; 0: as src/spec/programs.csv has it. A tuned program:
/// as it was.
ModelShape with_program(ModelShape model, Program program, Precision precision, double operator_seconds = 0);

}  // namespace dadsim::spec
