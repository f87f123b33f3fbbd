// Who is told of every record of a tape as it is made and walked.
#pragma once

#include <retrace/core/tape/record.h>

namespace retrace {

/// Told on the thread that records. Without an observer, a tape asks nothing more than whether it is watched.
class TapeObserver {
 public:
  TapeObserver(const TapeObserver&) = delete;
  TapeObserver& operator=(const TapeObserver&) = delete;

  /// The op has been computed and is on the tape. Its attributes are not there yet.
  virtual void recorded(const Record& record) = 0;
  /// Before and after the backward of a record that anything flows back to.
  virtual void walk_begins(const Record& record) = 0;
  virtual void walked(const Record& record) = 0;

  /// The observer of the tapes that begin on this thread; null if there is none.
  static TapeObserver* current();

 protected:
  TapeObserver() = default;
  ~TapeObserver() = default;
  /// Makes another observer the current one of this thread and returns the one before.
  static TapeObserver* exchange(TapeObserver* observer);
};

}  // namespace retrace
