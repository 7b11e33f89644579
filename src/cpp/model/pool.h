// A pool of worker threads.
#ifndef KUEUE_MODEL_POOL_H_
#define KUEUE_MODEL_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kueue {

class Pool {
 public:
  Pool() = default;
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Runs `work` for each of the pieces 0 to `pieces` - 1, on up to `threads` threads including the caller's.
  // Threads are created on demand. After all pieces are done, rethrows the exception of the first piece that
  // failed, if any.
  void Do(int threads, size_t pieces, const std::function<void(size_t)>& work);

 private:
  // State shared by the threads. Ownership is shared, so that a forked child process can abandon the state.
  // The threads do not exist in a forked child process.
  struct Shared {
    std::mutex mutex;
    std::condition_variable begins, is_done;
    size_t round = 0;
    // Number of threads that take part in this round, and number of threads that are still busy; neither
    // number includes the caller's thread.
    size_t wanted = 0, busy = 0;
    bool ends = false;
    const std::function<void(size_t)>* work = nullptr;
    size_t pieces = 0;
    std::atomic<size_t> next{0};
    std::vector<std::exception_ptr> faults;
  };

  static void Take(Shared& shared);
  static void Wait(Shared& shared, size_t number);
  void Hire(size_t threads);

  std::shared_ptr<Shared> shared_;
  std::unique_ptr<std::vector<std::thread>> threads_;
  int process_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_POOL_H_
