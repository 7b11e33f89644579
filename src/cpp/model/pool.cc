#include "model/pool.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "model/poll.h"

namespace kueue {

Pool::~Pool() {
  if (process_ != getpid()) {
    // The threads exist only in the parent process, so they are not joined here.
    static_cast<void>(threads_.release());
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->ends = true;
  }
  shared_->begins.notify_all();
  for (std::thread& thread : *threads_) thread.join();
}

void Pool::Take(Shared& shared) {
  for (size_t i = shared.next++; i < shared.pieces; i = shared.next++) {
    try {
      (*shared.work)(i);
    } catch (...) {
      shared.faults[i] = std::current_exception();
    }
  }
}

void Pool::Wait(Shared& shared, size_t number) {
  MutePolls();
  std::unique_lock<std::mutex> lock(shared.mutex);
  for (size_t seen = 0;;) {
    shared.begins.wait(lock, [&] { return shared.ends || shared.round != seen; });
    if (shared.ends) return;
    seen = shared.round;
    if (number >= shared.wanted) continue;
    lock.unlock();
    Take(shared);
    lock.lock();
    if (--shared.busy == 0) shared.is_done.notify_one();
  }
}

void Pool::Hire(size_t threads) {
  if (process_ != getpid()) {
    static_cast<void>(threads_.release());
    threads_ = std::make_unique<std::vector<std::thread>>();
    shared_ = std::make_shared<Shared>();
    process_ = getpid();
  }
  try {
    while (threads_->size() < threads) {
      const size_t number = threads_->size();
      threads_->emplace_back([shared = shared_, number] { Wait(*shared, number); });
    }
  } catch (const std::system_error&) {
    // No more threads can be created; use the existing ones.
  }
}

void Pool::Do(int threads, size_t pieces, const std::function<void(size_t)>& work) {
  const size_t wanted =
      std::min<size_t>(static_cast<size_t>(std::max(1, threads)), std::max<size_t>(1, pieces)) - 1;
  if (wanted == 0) {
    for (size_t i = 0; i < pieces; ++i) work(i);
    return;
  }
  Hire(wanted);
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->work = &work;
    shared_->pieces = pieces;
    shared_->next = 0;
    shared_->faults.assign(pieces, nullptr);
    shared_->wanted = shared_->busy = std::min(wanted, threads_->size());
    ++shared_->round;
  }
  shared_->begins.notify_all();
  Take(*shared_);
  std::unique_lock<std::mutex> lock(shared_->mutex);
  shared_->is_done.wait(lock, [&] { return shared_->busy == 0; });
  for (const std::exception_ptr& fault : shared_->faults) {
    if (fault) std::rethrow_exception(fault);
  }
}

}  // namespace kueue
