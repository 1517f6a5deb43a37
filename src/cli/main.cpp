#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "support/interrupt.hpp"

namespace {

[[noreturn]] void end_with(int code, std::string_view words) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
  [[maybe_unused]] const auto line_ended = ::write(STDERR_FILENO, "\n", 1);
  ::_exit(code);
}

/// Handles exceptions thrown from functions that must not throw. oneTBB throws there if the system denies a thread, and
/// libraries do if an allocation fails during destruction (a JSON document allocates a list of values to free).
[[noreturn]] void say_what_was_denied() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::runtime_error& error) {
      if (dadsim::cli::denies_thread(error)) {
        end_with(dadsim::cli::kSimulationFailed,
                 "dadsim: a thread could not be started; the input is correct; run the same command again when the "
                 "system has more resources");
      }
    } catch (const std::bad_alloc&) {
      end_with(dadsim::cli::kInternalError, dadsim::cli::kOutOfMemory);
    } catch (...) {
    }
  }
  std::abort();
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Installs signal handlers before libraries are initialised (System V ABI, "Initialization and Termination Functions").
// This initialisation is slow, and a signal during it would end the process with an undocumented exit code. Sanitizers
// are not initialised yet.
namespace {
void before_libraries() { dadsim::catch_interrupts(); }
[[gnu::used, gnu::section(".preinit_array")]] void (*const kBeforeLibraries)() = &before_libraries;
}  // namespace
#endif

int main(int argc, char** argv) {
  std::set_terminate(&say_what_was_denied);
  return dadsim::cli::run_command_line(argc, argv);
}
