#pragma once

#include <memory>

#include "models/operation.hpp"
#include "spec/model_specification.hpp"

// Factories of operations, each in the file with the operation's name. `in` is the shape of the input.

namespace dadsim::models {

template <class T>
using OperationPointer = std::shared_ptr<const OperationOf<T>>;

template <class T>
OperationPointer<T> make_dense(const spec::DenseSpec& spec, const spec::SampleShape& in,
                               ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_convolution(const spec::ConvolutionSpec& spec, const spec::SampleShape& in,
                                     ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_pool(const spec::PoolSpec& spec, const spec::SampleShape& in);
template <class T>
OperationPointer<T> make_mean(const spec::SampleShape& in);
template <class T>
OperationPointer<T> make_select(const spec::SelectSpec& spec, const spec::SampleShape& in);
template <class T>
OperationPointer<T> make_gru(const spec::RecurrentSpec& spec, const spec::SampleShape& in,
                             ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_lstm(const spec::RecurrentSpec& spec, const spec::SampleShape& in,
                              ParameterBuilder<T>& parameters);
/// softmax(Q Kᵀ ÷ √d) V per head; `in` has the channels of Q, K and V next to each other.
template <class T>
OperationPointer<T> make_attention_scores(const spec::AttentionSpec& spec, const spec::SampleShape& in);
template <class T>
OperationPointer<T> make_layer_norm(const spec::LayerNormSpec& spec, const spec::SampleShape& in,
                                    ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_batch_norm(const spec::BatchNormSpec& spec, const spec::SampleShape& in,
                                    ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_embedding(const spec::EmbeddingSpec& spec, const spec::SampleShape& in,
                                   ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_positions(const spec::SampleShape& in, ParameterBuilder<T>& parameters);
template <class T>
OperationPointer<T> make_class_token(const spec::SampleShape& in, ParameterBuilder<T>& parameters);
/// `number`: index of the dropout in the network, which selects its masks.
template <class T>
OperationPointer<T> make_dropout(const spec::DropoutSpec& spec, const spec::SampleShape& in, std::uint32_t number);
/// φ(x + second)
template <class T>
OperationPointer<T> make_add(spec::Activation activation, const spec::SampleShape& in);

}  // namespace dadsim::models
