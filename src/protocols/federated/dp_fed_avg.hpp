#pragma once

#include <memory>

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Federated averaging whose model tells little of any one client (McMahan, Ramage, Talwar, Zhang, Learning
/// Differentially Private Recurrent Language Models, ICLR 2018, arXiv 1710.06963, algorithm 1 with its estimator f_f;
/// Geyer, Klein, Nabi, arXiv 1712.07557), or of any one sample:
///     each client joins a round with chance q, by itself: S_t, which may be empty
///     client   u_k = (y_k − x) min(1, C ÷ ‖y_k − x‖)                       over the whole model
///     server   x ← x + (Σ_{S_t} w_k u_k + N(0, (σ C max w)² I)) ÷ (q Σ_all w)
/// The denominator is that of all clients, however many join: with |S_t| in its place, one client would move the mean
/// by more than C ÷ (q N). w_k are the samples of a client, or all alike; they are no secret.
///
/// Who adds the noise decides towards whom ε holds, and so what the accountant may count:
///     central    the server: it is trusted, and who joined is known to it alone. A client is charged the sampled
///                Gaussian with chance q for each round that it could be reached in; for others nothing
///     local      each client that is asked adds N(0, σ²C² max w² ÷ (m w_k²)), m those of the ⌈(1 − drop-outs) n⌉ of n
///                that have to come for the sum to hold all of it; a round to which fewer come releases nothing. The
///                server sees sums and knows who is in them, so that there is no chance of not having been drawn: a
///                client is charged q = 1 for each sum that it is in, with the noise of those that came, σ √(a ÷ m)
///     per-site   each client adds N(0, σ²C²) to what it sends: q = 1 for each message that it has sent
/// With level="sample" clients train by DP-SGD (algorithms/private/dp_sgd.hpp), so that all they send is private
/// already, and the server takes the mean of those that come: a sample is charged the steps of its own client alone.
EventDrivenMethod dp_fed_avg_method();

std::unique_ptr<Protocol> make_dp_fed_avg(const Setting& setting);

}  // namespace dadsim::protocols
