// A loss by which each slot of a memory keeps to topics of its own.
#pragma once

#include <retrace/models/networks/memory_trace.h>
#include <retrace/models/tasks/task.h>

namespace retrace {

/// The topic of every row (Task::topic), -1 for rows without one: [B, T] of i64.
Tensor topics_of(const Task& task, const Batch& batch);

/// The information that the topic of a row gives about the slot that changes at it, in nats, which is 0 where all
/// topics change the slots alike, and at most log N: I = H(q) - sum_k P(k) H(q_k). p_t[n] = |M_t[n] - M_(t-1)[n]|^2 as
/// a share of the sum over the slots, q_k is the mean of p_t over the rows of topic k, q over all rows with a topic,
/// P(k) their fraction, and H the entropy. topics [B, T] counts from 0, and is -1 for rows without a topic; without
/// any, I is 0. Differentiable in the memory. Throws ShapeError for topics of another shape than the trace.
Tensor topic_information(const MemoryTrace& trace, const Tensor& topics);

}  // namespace retrace
