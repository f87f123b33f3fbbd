// Which module's operator() is running, for the paths of records ("encoder/mha/softmax").
#pragma once

#include <cstdint>

namespace retrace {

struct ScopeEntry;
class Tape;

/// Marks the ops of this block as those of a module, until the end of the block. `label` is what prints say where the
/// module's own name is not known.
class Scope {
 public:
  explicit Scope(const void* module, const char* label = "module");
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  friend class Tape;
  static thread_local constinit Scope* innermost_;

  const void* module_;
  const char* label_;
  Scope* outer_;
  std::uint64_t tape_ = 0;  // the tape that holds entry_
  ScopeEntry* entry_ = nullptr;
};

}  // namespace retrace
