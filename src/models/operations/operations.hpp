#pragma once

#include <memory>

#include "models/operation.hpp"
#include "plan/model_specification.hpp"

// One function per operation; the files follow, one each. `in` is the shape of what comes in.

namespace dadsim {

template <class T>
using OperationPointer = std::shared_ptr<const OperationOf<T>>;

template <class T>
OperationPointer<T> make_dense(const DenseSpec& spec, const SampleShape& in, ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_convolution(const ConvolutionSpec& spec, const SampleShape& in,
                                     ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_pool(const PoolSpec& spec, const SampleShape& in);
template <class T>
OperationPointer<T> make_mean(const SampleShape& in);
template <class T>
OperationPointer<T> make_select(const SelectSpec& spec, const SampleShape& in);
template <class T>
OperationPointer<T> make_gru(const RecurrentSpec& spec, const SampleShape& in, ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_lstm(const RecurrentSpec& spec, const SampleShape& in, ParameterBuilder<T>& parameters);
/// softmax(Q Kᵀ ÷ √d) V per head; `in` has the channels of Q, K and V beside each other.
template <class T>
OperationPointer<T> make_attention_scores(const AttentionSpec& spec, const SampleShape& in);
template <class T>
OperationPointer<T> make_layer_norm(const LayerNormSpec& spec, const SampleShape& in, ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_batch_norm(const BatchNormSpec& spec, const SampleShape& in, ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_embedding(const EmbeddingSpec& spec, const SampleShape& in, ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_positions(const SampleShape& in, ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_class_token(const SampleShape& in, ParameterBuilder<T>& parameters);
/// `number` tells the masks of this operation from those of others.
template <class T>
OperationPointer<T> make_dropout(const DropoutSpec& spec, const SampleShape& in, std::uint32_t number);
/// φ(x + second)
template <class T>
OperationPointer<T> make_add(Activation activation, const SampleShape& in);

}  // namespace dadsim
