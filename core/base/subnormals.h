// Whether subnormal numbers (below 1.2e-38 in f32, 2.2e-308 in f64) are kept or flushed to zero.
#pragma once

namespace retrace {

/// Whether numbers too small for the full precision are kept or become 0.
enum class Subnormals { kept, flushed };

/// The mode of the calling thread; by default, subnormal numbers are kept.
Subnormals subnormals();

/// Keeps subnormal numbers, or flushes them to zero, on the calling thread and in its loops over threads, until the end
/// of the block. Multiplying by a subnormal number is about 100 times slower, and saturated gates produce many: a
/// training step may be several times as fast without them. `fit` and `evaluate` flush them. On processors other than
/// x86 they are always kept.
class SubnormalsScope {
 public:
  explicit SubnormalsScope(Subnormals mode);
  ~SubnormalsScope();
  SubnormalsScope(const SubnormalsScope&) = delete;
  SubnormalsScope& operator=(const SubnormalsScope&) = delete;

 private:
  Subnormals before_;
};

}  // namespace retrace
