// Which module's operator() is running, for the paths of records ("encoder/mha/softmax").
#pragma once

#include <cstdint>
#include <typeinfo>

namespace retrace {

struct ScopeEntry;
class Tape;

/// Marks the ops of this block as those of a module, until the end of the block. `label` is what prints say where the
/// module's own name is not known.
class Scope {
 public:
  template <class M> explicit Scope(const M* module, const char* label = "module") : Scope(module, typeid(M), label) {}
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  friend class Tape;
  Scope(const void* module, const std::type_info& type, const char* label);
  static thread_local constinit Scope* innermost_;

  const void* module_;
  const std::type_info* type_;
  const char* label_;
  Scope* outer_;
  std::uint64_t tape_ = 0;  // the tape that holds entry_
  ScopeEntry* entry_ = nullptr;
};

}  // namespace retrace
