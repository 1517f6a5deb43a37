#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace dadsim {

/// Allocation for a library written in C that goes on without what it did not get: libxml2 calls a document not
/// well-formed, or leaves out what is wrong with it. Whether memory was denied to the library on this thread is known
/// from the object's beginning on; what it found then is not to be used.
class WatchedMemory {
 public:
  WatchedMemory() { denied = false; }
  /// After it the library takes its memory from here: `set_allocator` is its function for that (xmlMemSetup).
  template <typename SetAllocator>
  static WatchedMemory of(SetAllocator set_allocator) {
    static const int kSet = set_allocator(&std::free, &allocate, &reallocate, &duplicate);
    if (kSet != 0) throw std::bad_alloc();
    return {};
  }
  /// Throws std::bad_alloc.
  static void check() {
    if (denied) throw std::bad_alloc();
  }

  static void* allocate(std::size_t size) { return noted(std::malloc(size), size); }
  static void* reallocate(void* old, std::size_t size) { return noted(std::realloc(old, size), size); }
  static char* duplicate(const char* text) {
    const std::size_t size = std::strlen(text) + 1;
    void* copy = allocate(size);
    return copy == nullptr ? nullptr : static_cast<char*>(std::memcpy(copy, text, size));
  }

 private:
  static void* noted(void* memory, std::size_t size) {
    if (memory == nullptr && size != 0) denied = true;
    return memory;
  }

  static inline thread_local bool denied = false;
};

}  // namespace dadsim
