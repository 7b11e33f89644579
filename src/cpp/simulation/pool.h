// Threads that work together, and wait in between.
#ifndef KUEUE_SIMULATION_POOL_H_
#define KUEUE_SIMULATION_POOL_H_

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

  // Does each piece once, on so many threads, of which the caller's is one; threads are begun as they are
  // asked for. What a piece throws comes out when all are done; of several, that of the first piece.
  void Do(int threads, size_t pieces, const std::function<void(size_t)>& work);

 private:
  // What the threads share. Each has a part in it, so that a process that forks, where they are not, can
  // leave it behind.
  struct Shared {
    std::mutex mutex;
    std::condition_variable begins, is_done;
    size_t round = 0;
    size_t wanted = 0, busy = 0;  // threads of this round beside the caller's
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

#endif  // KUEUE_SIMULATION_POOL_H_
