#include "upstream/exchange.h"

#include <algorithm>
#include <utility>

namespace margin::upstream {
namespace {

// Shorter than what servers and load balancers commonly grant (60 s and more), so that they rarely close first.
constexpr std::chrono::seconds kIdleTime{45};

}  // namespace

std::shared_ptr<Connection> Origin::take() {
  if (idle_.empty()) return nullptr;
  std::shared_ptr<Connection> connection = std::move(idle_.back().connection);
  idle_.pop_back();
  return connection;
}

std::shared_ptr<Connection> Origin::connect(std::shared_ptr<Connection::Listener> listener) {
  ++connects_;
  return upstream::connect(loop_, route_, std::move(listener));
}

void Origin::give_back(std::shared_ptr<Connection> connection) {
  if (retired_) return connection->close();
  connection->set_listener(shared_from_this());
  idle_.push_back({std::move(connection), std::chrono::steady_clock::now()});
  if (idle_.size() > idle_max_) {
    idle_.front().connection->close();
    idle_.erase(idle_.begin());
  }
  if (!std::exchange(watching_, true)) {
    expiry_ = loop_.after(kIdleTime, [this] { close_expired(); });
  }
}

void Origin::close_expired() {
  const auto expired = std::chrono::steady_clock::now() - kIdleTime;
  const auto first_kept = std::find_if(idle_.begin(), idle_.end(), [&](const Idle& idle) { return idle.since > expired; });
  for (auto idle = idle_.begin(); idle != first_kept; ++idle) idle->connection->close();
  idle_.erase(idle_.begin(), first_kept);
  watching_ = !idle_.empty();
  if (watching_) expiry_ = loop_.after(kIdleTime, [this] { close_expired(); });
}

void Origin::forget(Connection& connection) {
  connection.close();
  std::erase_if(idle_, [&](const Idle& idle) { return idle.connection.get() == &connection; });
}

void Origin::retire() {
  retired_ = true;
  expiry_.cancel();
  for (const Idle& idle : idle_) idle.connection->close();
  idle_.clear();
}

void Exchange::start(std::shared_ptr<Exchange> self, std::string head, std::shared_ptr<const std::string> body) {
  reader_.start();
  self_ = self;
  body_ = std::move(body);
  connection_ = origin_->take();
  reused_ = connection_ != nullptr;
  if (reused_) {
    connection_->set_listener(std::move(self));
    head_ = head;
    connection_->write(std::move(head), body_);
  } else {
    head_ = std::move(head);
    connection_ = origin_->connect(std::move(self));
  }
}

void Exchange::cancel() {
  if (connection_) std::exchange(connection_, nullptr)->close();
}

void Exchange::finish(End end) {
  const std::shared_ptr<Connection> connection = std::exchange(connection_, nullptr);
  end.began = reader_.began();
  end.framed = reader_.framed();
  if (!end.failure && reader_.reusable() && !connection->writing()) {
    origin_->give_back(connection);
  } else {
    connection->close();
  }
  owner_.on_end(std::move(end));
}

void Exchange::on_open(Connection& connection) { connection.write(std::move(head_), body_); }

void Exchange::on_bytes(Connection&, std::string_view bytes) {
  reader_.feed(bytes);
  read_on();
}

void Exchange::on_closed(Connection&, const Connection::Closed& closed) {
  if (reused_ && !reader_.began()) {
    reused_ = false;
    reader_.start();
    connection_ = origin_->connect(self_.lock());
    return;
  }
  const bool reading = closed.failure.value_or(Failure::kCut) == Failure::kCut;
  if (!reading) return finish({.failure = closed.failure, .why = closed.why});
  reader_.end(!closed.failure);
  read_on();
}

void Exchange::read_on() {
  while (connection_) {
    using Step = ReplyReader::Step;
    switch (reader_.next()) {
      case Step::kNeedMore: return;
      case Step::kHead: owner_.on_head(reader_.head()); break;
      case Step::kBody: owner_.on_body(reader_.piece()); break;
      case Step::kDone: return finish({});
      case Step::kTooLarge: return finish({.failure = Failure::kTooLarge, .why = reader_.why()});
      case Step::kWrong: return finish({.failure = Failure::kMalformed, .why = reader_.why()});
      case Step::kCut: return finish({.failure = Failure::kCut, .why = reader_.why()});
    }
  }
}

}  // namespace margin::upstream
