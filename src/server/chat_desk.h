// ChatDesk: chats under way and lately answered, by Idempotency-Key, so that a client's retry never asks the models twice: it joins the
// chat it repeats, or gets the answer that is already there. Used by the chat handler.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gateway/chat.h"
#include "http/loop.h"
#include "http/message.h"
#include "http/server.h"
#include "log/event_log.h"
#include "server/answer.h"
#include "server/render_chat.h"

namespace margin::server {

// One chat and the clients that wait for it.
class ChatExchange : public std::enable_shared_from_this<ChatExchange> {
 public:
  struct Settings {
    std::chrono::milliseconds keep_alive{15'000};
    // How long a chat whose clients are all gone goes on for one that comes back; 0: it is cancelled at once.
    std::chrono::milliseconds grace{0};
  };
  ChatExchange(http::Loop& loop, Uuid id, const Settings& settings) : loop_(loop), id_(id), settings_(settings) {}

  void runs(std::shared_ptr<gateway::Chat> chat) { chat_ = std::move(chat); }
  // Called when nobody waits any more.
  void on_abandoned(std::function<void()> abandoned) { abandoned_ = std::move(abandoned); }

  // A client that wants the answer, now or when it is there.
  void join(SharedAnswer answer, bool stream, bool include_usage);

  void succeed(FinishedChat chat);
  // `waited`: for models, as Heard has it.
  void fail(http::Response refusal, std::chrono::nanoseconds waited);

  [[nodiscard]] bool over() const { return finished_ != nullptr || refusal_.has_value(); }
  [[nodiscard]] Uuid id() const { return id_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Client {
    SharedAnswer answer;
    bool stream = false;
    bool include_usage = false;
    http::Stream out;  // once its head was sent
    bool gone = false;
  };

  // `waited`: for models; the rest of its time is told as this server's.
  void tell(Client& client, std::chrono::nanoseconds waited);
  void leave(Client& client);
  void keep_alive();

  http::Loop& loop_;
  const Uuid id_;
  const Settings settings_;
  std::shared_ptr<gateway::Chat> chat_;
  std::function<void()> abandoned_;
  std::vector<std::shared_ptr<Client>> clients_;
  std::shared_ptr<const FinishedChat> finished_;
  std::optional<http::Response> refusal_;
  http::Timer pinger_;
  http::Timer grace_;
};

class ChatDesk {
 public:
  struct Found {
    std::shared_ptr<ChatExchange> exchange;  // none: the key is new
    bool other_body = false;
  };
  [[nodiscard]] Found find(const std::string& pool, const RequestMark& mark) const;
  void add(const std::string& pool, const RequestMark& mark, std::shared_ptr<ChatExchange> exchange);
  // It failed in a way that a retry may mend, or was abandoned.
  void forget(const std::string& pool, const RequestMark& mark);
  // What was answered, wherever it is kept: its texts were erased.
  void forget(Uuid decision);

 private:
  // Answers kept for retries; a client that comes back does so within minutes.
  static constexpr std::size_t kExchangesMax = 4096;
  static constexpr std::size_t kBytesMax = 64 << 20;
  struct Entry {
    Digest body;
    std::shared_ptr<ChatExchange> exchange;
  };
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // pool, and the mark's key
  [[nodiscard]] static Key key_of(const std::string& pool, const RequestMark& mark) { return {pool, mark.key.high, mark.key.low}; }
  void make_room();

  std::map<Key, Entry> entries_;
  std::deque<Key> order_;
};

}  // namespace margin::server
