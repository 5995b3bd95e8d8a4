#include "http/loop.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "http/executor.h"

namespace margin::http {
namespace asio = boost::asio;

struct Timer::Impl {
  explicit Impl(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
  std::function<void()> work;
};

Timer::Timer() = default;
Timer::Timer(Timer&&) noexcept = default;
Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    cancel();
    impl_ = std::move(other.impl_);
  }
  return *this;
}
Timer::~Timer() { cancel(); }

void Timer::cancel() {
  if (impl_ == nullptr) return;
  impl_->work = nullptr;
  impl_->timer.cancel();
  impl_.reset();
}

struct Loop::Impl {
  struct Signal {
    Signal(asio::io_context& context, int signal, std::function<void()> on_signal) : set(context, signal), work(std::move(on_signal)) {}
    asio::signal_set set;
    std::function<void()> work;
  };

  std::vector<TurnEnd*> turn_ends;  // before the context, whose handlers may hold some to the end
  bool in_turn = false;
  // One thread runs it and uses its sockets: Asio may skip what many would need. Only post() and stop() come from others.
  asio::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  asio::executor_work_guard<asio::io_context::executor_type> stay{context.get_executor()};
  std::deque<Signal> signals;  // a deque: a waiting set must not move
  std::atomic<bool> stopped = false;

  std::mutex mutex;  // of all below
  std::vector<std::function<void()>> posted;
  bool asked = false;    // Asio runs what was posted
  bool looking = false;  // the loop's thread does, before it waits for anything

  void post(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex);
      posted.push_back(std::move(work));
      if (asked || looking) return;
      asked = true;
    }
    ask();
  }

  void ask() {
    asio::post(context, [this] {
      {
        const std::lock_guard lock(mutex);
        asked = false;
      }
      run_posted();
    });
  }

  // What was posted by now. False: nothing was.
  bool run_posted() {
    std::vector<std::function<void()>> batch;
    {
      const std::lock_guard lock(mutex);
      batch.swap(posted);
    }
    for (std::size_t i = 0; i < batch.size() && !stopped; ++i) turn(batch[i]);
    return !batch.empty();
  }

  void look(bool whether) {
    {
      const std::lock_guard lock(mutex);
      looking = whether;
      if (looking || asked || posted.empty()) return;
      asked = true;
    }
    ask();
  }

  void turn(const std::function<void()>& work) {
    if (in_turn) return work();
    {
      in_turn = true;
      const std::unique_ptr<bool, decltype([](bool* flag) { *flag = false; })> over(&in_turn);  // also when the work throws
      work();
    }
    for (std::size_t i = 0; i < turn_ends.size(); ++i) turn_ends[i]->work_();
  }

  static void wait(Signal& signal) {
    signal.set.async_wait([&signal](const boost::system::error_code& error, int) {
      if (error) return;
      wait(signal);
      signal.work();
    });
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;

void Loop::run() { impl_->context.run(); }
void Loop::stop() {
  impl_->stopped = true;
  impl_->context.stop();
}
void Loop::post(std::function<void()> work) { impl_->post(std::move(work)); }
bool Loop::in_turn() const { return impl_->in_turn; }

Timer Loop::after(std::chrono::microseconds delay, std::function<void()> work) {
  Timer timer;
  timer.impl_ = std::make_shared<Timer::Impl>(impl_->context);
  timer.impl_->work = std::move(work);
  timer.impl_->timer.expires_after(delay);
  timer.impl_->timer.async_wait([pending = timer.impl_](const boost::system::error_code&) {
    // Cancelling may come after the expiry was queued; the work is then gone.
    if (const auto work_now = std::exchange(pending->work, nullptr)) work_now();
  });
  return timer;
}

void Loop::post_after(std::chrono::microseconds delay, std::function<void()> work) {
  // The pending call holds what the timer would.
  after(delay, [this, work = std::move(work)] { impl_->turn(work); }).impl_.reset();
}

void Loop::on_signal(int signal, std::function<void()> work) {
  Impl::wait(impl_->signals.emplace_back(impl_->context, signal, std::move(work)));
}

TurnEnd::TurnEnd(Loop& loop, std::function<void()> work) : loop_(loop), work_(std::move(work)) { loop_.impl().turn_ends.push_back(this); }
TurnEnd::~TurnEnd() { std::erase(loop_.impl().turn_ends, this); }

asio::io_context& io_context(Loop& loop) { return loop.impl().context; }
void turn(Loop& loop, const std::function<void()>& work) { loop.impl().turn(work); }

void in_rounds(Loop& loop, int rounds_max, const std::function<bool()>& serve) {
  Loop::Impl& impl = loop.impl();
  impl.look(true);
  const std::unique_ptr<Loop::Impl, decltype([](Loop::Impl* looked) { looked->look(false); })> over(&impl);  // also when something throws
  for (int round = 0; round < rounds_max && !impl.stopped; ++round) {
    const bool served = serve();
    if (!impl.run_posted() && !served) return;
  }
}

}  // namespace margin::http
