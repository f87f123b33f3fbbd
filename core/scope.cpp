#include <retrace/core/scope.h>

namespace retrace {

thread_local constinit Scope* Scope::innermost_ = nullptr;

Scope::Scope(const void* module, const std::type_info& type, const char* label)
    : module_(module), type_(&type), label_(label), outer_(innermost_) {
  innermost_ = this;
}

Scope::~Scope() { innermost_ = outer_; }

}  // namespace retrace
