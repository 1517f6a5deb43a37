#pragma once

#include "models/gemm/kernels/product_loops.hpp"
#include "models/gemm/kernels/sets.hpp"
#include "models/gemm/kernels/window_loops.hpp"

// The loops of models/gemm/kernels.hpp, for the instructions that the including file is compiled for. All of it belongs
// to that file alone (the unnamed namespace), and nothing here calls a template or an inline function of anybody
// else's.

namespace dadsim::models {
namespace {

template <class T>
constexpr KernelsOf<T> kLoopsOf = {
    .lanes = kLanes<T>,
    .panel_columns = kPanelColumns<T>,
    .depth = kDepth,
    .panels_at_once = kPanelsAtOnce<T>,
    .window_columns = kWindowVectors* kLanes<T>,
    .few_lanes = kFewLanes<T>,
    .gradient_columns = kGradientVectors* kLanes<T>,
    .multiply_rows = multiply_tiles<T, Left::rows>,
    .multiply_columns = multiply_tiles<T, Left::columns>,
    .pack_panels = pack_panels<T>,
    .pack_transposed_panel = pack_transposed_panel<T>,
    .multiply_windows = multiply_windows<T>,
    .add_gradient = add_gradient<T>,
};

constexpr Kernels kLoops = {kLoopsOf<float>, kLoopsOf<double>};

}  // namespace
}  // namespace dadsim::models
