#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::formats {

/// Log of one client of NVIDIA FLARE: lines of its Communicator (nvflare/private/fed/client/communicator.py, 2.1 to
/// 2.7), "… getTask: train size: 408.5KB (408512 Bytes) time: 0.100075 seconds" and "SubmitUpdate … size: 408.5KB
/// (408512 Bytes). time: 0.1 seconds", which begin with a date.
struct ClientLog {
  struct LoggedTransfer {
    double bytes = 0;
    double seconds = 0;  ///< seconds from the request to the data, including packing and unpacking at both ends
  };
  std::string name;  ///< identity of the client; empty: not in the log
  std::vector<LoggedTransfer> down, up;
  std::vector<double> training;  ///< seconds from receiving a task to sending its result
};

/// Rounds in a log of a Flower server. Versions 0.16 to 1.7 write "fit_round 1: strategy sampled 2 clients (out of 2)",
/// with dates; 1.8 to 1.20 "configure_fit: strategy sampled 2 clients (out of 20)"; later ones "configure_train:
/// Sampled 5 nodes (out of 10)", after "ArrayRecord (0.24 MB)". Only these last ones have the bytes of a model, and no
/// log has seconds of a transfer.
struct ServerLog {
  struct LoggedRound {
    std::int64_t sampled = 0, known = 0;  ///< number of sampled clients, and of clients known to the server
    std::int64_t received = 0;            ///< number of results
    std::optional<double> seconds;        ///< seconds from the sampling of clients until their results had arrived;
                                          ///< none: the log has no dates
  };
  std::vector<LoggedRound> rounds;
  std::optional<double> model_bytes;
  std::optional<double> total_seconds;  ///< seconds of all rounds, including evaluation, from the end of the log
};

/// Read a log; return nothing if no line has the form above. Throw std::runtime_error, with a message for the user, for
/// lines of several clients.
std::optional<ClientLog> read_client_log(std::string_view text);
std::optional<ServerLog> read_server_log(std::string_view text);

}  // namespace dadsim::formats
