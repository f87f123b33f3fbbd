#include <retrace/core/base/error.h>
#include <retrace/core/tape/arena.h>
#include <retrace/core/tape/scope.h>

namespace retrace {

thread_local constinit Scope* Scope::innermost_ = nullptr;

Scope::Scope(const void* module, const std::type_info& type, const char* label)
    : module_(module), type_(&type), label_(label), outer_(innermost_) {
  innermost_ = this;
}

Scope::~Scope() { innermost_ = outer_; }

ScopeEntry* Scope::innermost_on(std::uint64_t tape, detail::Arena& arena) {
  for (Scope* scope = innermost_; scope != nullptr && scope->tape_ != tape; scope = scope->outer_) {
    scope->entry_ =
        new (arena.allocate(sizeof(ScopeEntry))) ScopeEntry{nullptr, scope->module_, scope->label_, scope->type_};
    scope->tape_ = tape;
  }
  for (Scope* scope = innermost_; scope->outer_ != nullptr && scope->entry_->outer == nullptr; scope = scope->outer_)
    scope->entry_->outer = scope->outer_->entry_;
  return innermost_->entry_;
}

std::string path_of(const ScopeEntry* scope) {
  std::string path;
  for (; scope != nullptr; scope = scope->outer) path = text(scope->label, path.empty() ? "" : "/", path);
  return path;
}

}  // namespace retrace
