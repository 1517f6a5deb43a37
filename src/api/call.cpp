#include "api/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>

#include "api/turn.hpp"
#include "sim/simulator.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/interrupt.hpp"
#include "support/kernel_set.hpp"
#include "support/output_error.hpp"
#include "support/terminal.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::api {
namespace {

class Telling {
 public:
  explicit Telling(const std::function<void(const std::string&)>& listener) {
    if (listener) tell_instead([&listener](std::string_view text) { listener(std::string(text)); });
  }
  ~Telling() { tell_instead({}); }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;
};

std::vector<Diagnostic> diagnostics_of(const dadsim::InputError& error) {
  std::vector<Diagnostic> diagnostics;
  for (const dadsim::Diagnostic& one : error.diagnostics()) {
    diagnostics.push_back({one.file, one.line, one.what, one.remedy});
  }
  return diagnostics;
}

}  // namespace

std::size_t threads_of(const Options& options) {
  if (options.threads > kMostThreads) {
    const Diagnostic wrong{"", 0, fmt::format("{} threads", options.threads),
                           fmt::format("1 to {}, or 0 for as many as the machine has", kMostThreads)};
    throw InputError(fmt::format("{}; {}", wrong.what, wrong.remedy), {wrong});
  }
  return options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
}

void with_errors_of_ours(const std::function<void()>& work) {
  try {
    static_cast<void>(kernel_set());  // wrong words for it are told before anything is done
    work();
  } catch (const Error&) {
    throw;
  } catch (const dadsim::InputError& error) {
    throw InputError(error.what(), diagnostics_of(error));
  } catch (const dadsim::OutputError& error) {
    throw OutputError(error.what());
  } catch (const Cancelled& cancelled) {
    throw Stopped(fmt::format("interrupted; {}", cancelled.what()));
  } catch (const EnvironmentError& error) {
    throw SystemError(error.what());
  } catch (const std::system_error& error) {
    throw SystemError(fmt::format("a thread could not be started: {}", error.what()));
  } catch (const std::bad_alloc&) {
    throw SystemError("out of memory; fewer workers, a smaller network or less data would fit");
  } catch (const sim::SimulationError& error) {
    if (interrupted().load()) throw Stopped("interrupted; nothing was written");
    throw SimulationError(error.what());
  } catch (const std::exception& error) {
    throw Error(fmt::format("a bug of dadsim's, please report it: {}", error.what()));
  }
}

void as_a_call(const Options& options, const std::function<void()>& work) {
  const std::size_t threads = threads_of(options);
  const Turn turn;
  with_errors_of_ours([&] {
    const Telling telling(options.progress);
    const ThreadLimit limit(threads);
    work();
  });
}

}  // namespace dadsim::api
