// Which module's operator() is running, for the paths of records ("encoder/mha/softmax").
#pragma once

#include <cstdint>
#include <string>
#include <typeinfo>

namespace retrace {

namespace detail {
class Arena;
class Recorder;
}  // namespace detail

/// A place in the nesting of modules: which module's operator() was running. A module and its first member
/// have the same address; their types tell them apart.
struct ScopeEntry {
  const ScopeEntry* outer;
  const void* module;
  const char* label;
  const std::type_info* type;
};

/// The labels of the scopes up to this one, outermost first: "module/linear". Empty for null. (path_of() in names.h has
/// the names that the author gave.)
std::string path_of(const ScopeEntry* scope);

/// Marks the ops of this block as those of a module, until the end of the block. `label` is what prints say where the
/// module's own name is not known.
class Scope {
 public:
  template <class M> explicit Scope(const M* module, const char* label = "module") : Scope(module, typeid(M), label) {}
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  friend class detail::Recorder;
  Scope(const void* module, const std::type_info& type, const char* label);
  /// The entry of the innermost scope on a tape. Makes the missing entries of the scopes around it in the arena.
  static ScopeEntry* innermost_on(std::uint64_t tape, detail::Arena& arena);
  static thread_local constinit Scope* innermost_;

  const void* module_;
  const std::type_info* type_;
  const char* label_;
  Scope* outer_;
  std::uint64_t tape_ = 0;  // the tape that holds entry_
  ScopeEntry* entry_ = nullptr;
};

}  // namespace retrace
