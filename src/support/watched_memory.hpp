#pragma once

#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace dadsim {

/// Allocator for a C library that continues after a failed allocation: libxml2 then reports a document as not
/// well-formed, writes a document without a part, or dereferences null. If the system denies memory, it comes from a
/// reserve, so that the library ends normally. check() then throws, so that the result is not used. Only requests
/// larger than the rest of the reserve fail. Records whether memory was denied on this thread since the object was
/// made.
class WatchedMemory {
 public:
  static constexpr std::size_t kReserve = std::size_t{1} << 20;  ///< bytes of the reserve, which takes no memory until
                                                                 ///< it is used

  WatchedMemory() { denied = false; }
  /// Makes the library allocate with this class; `set_allocator`: the library's function to set its allocator
  /// (xmlMemSetup).
  template <typename SetAllocator>
  static WatchedMemory of(SetAllocator set_allocator) {
    static const int kSet = set_allocator(&release, &allocate, &reallocate, &duplicate);
    if (kSet != 0) throw std::bad_alloc();
    return {};
  }
  /// Throws std::bad_alloc if memory was denied.
  static void check() {
    if (denied) throw std::bad_alloc();
  }

  static void* allocate(std::size_t size) {
    void* memory = std::malloc(size);
    return memory != nullptr || size == 0 ? memory : from_reserve(size);
  }
  static void* reallocate(void* old, std::size_t size) {
    const bool reserved = in_reserve(old);
    void* memory = reserved ? allocate(size) : std::realloc(old, size);
    if (reserved && memory != nullptr) std::memcpy(memory, old, std::min(size, size_in_reserve(old)));
    if (reserved || memory != nullptr || size == 0) return memory;
    memory = from_reserve(size);
    if (memory == nullptr || old == nullptr) return memory;
    std::memcpy(memory, old, std::min(size, ::malloc_usable_size(old)));
    std::free(old);
    return memory;
  }
  static char* duplicate(const char* text) {
    const std::size_t size = std::strlen(text) + 1;
    void* copy = allocate(size);
    return copy == nullptr ? nullptr : static_cast<char*>(std::memcpy(copy, text, size));
  }
  /// Frees memory, except that of the reserve, which is not reused.
  static void release(void* memory) {
    if (!in_reserve(memory)) std::free(memory);
  }

 private:
  static constexpr std::size_t kUnit = alignof(std::max_align_t);  // the size is stored before a block, in one unit

  static void* from_reserve(std::size_t size) {
    denied = true;
    if (size > kReserve) return nullptr;
    const std::size_t wanted = (size + kUnit - 1) / kUnit * kUnit + kUnit;
    const std::size_t begin = used.fetch_add(wanted);
    if (begin > kReserve || wanted > kReserve - begin) return nullptr;
    std::memcpy(reserve.data() + begin, &size, sizeof size);
    return reserve.data() + begin + kUnit;
  }
  static bool in_reserve(const void* memory) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    const auto begin = reinterpret_cast<std::uintptr_t>(reserve.data());
    return at >= begin && at < begin + kReserve;
  }
  static std::size_t size_in_reserve(const void* memory) {
    std::size_t size = 0;
    std::memcpy(&size, static_cast<const std::byte*>(memory) - kUnit, sizeof size);
    return size;
  }

  static inline thread_local bool denied = false;
  alignas(kUnit) static inline std::array<std::byte, kReserve> reserve{};
  static inline std::atomic<std::size_t> used = 0;
};

}  // namespace dadsim
