// Whether numbers nearer to 0 than the smallest normal one (1.2e-38 of f32, 2.2e-308 of f64) are computed with.
#pragma once

namespace retrace {

enum class Subnormals { kept, flushed };

/// What the calling thread does with them: it keeps them, unless told otherwise.
Subnormals subnormals();

/// Keeps them, or takes them for 0, on the calling thread and in its loops over threads, until the end of the block.
/// A processor takes a hundred times as long where one of them is a factor, and gates that have closed leave many: a
/// training step may be several times as fast without them. `fit` and `evaluate` flush them. On other processors than
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
