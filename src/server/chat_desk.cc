#include "server/chat_desk.h"

#include <algorithm>

namespace margin::server {
namespace {

http::Response stream_head() {
  http::Response head;
  head.content_type = "text/event-stream";
  head.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
  return head;
}

}  // namespace

void ChatExchange::join(SharedAnswer answer, bool stream, bool include_usage) {
  grace_.cancel();
  auto client = std::make_shared<Client>();
  client->answer = std::move(answer);
  client->stream = stream;
  client->include_usage = include_usage;
  client->answer->add_header("x-margin-decision-id", id_.text());
  if (over()) return tell(*client, std::chrono::nanoseconds(0));  // for a reply that is here
  const auto self = shared_from_this();
  client->answer->on_disconnect([self, client] { self->leave(*client); });
  clients_.push_back(std::move(client));
  if (clients_.size() == 1) keep_alive();
}

void ChatExchange::leave(Client& client) {
  client.gone = true;
  const bool all_gone = std::all_of(clients_.begin(), clients_.end(), [](const auto& each) { return each->gone; });
  if (!all_gone || over()) return;
  const auto self = shared_from_this();
  grace_ = loop_.after(settings_.grace, [self] {
    const bool waited_for = std::any_of(self->clients_.begin(), self->clients_.end(), [](const auto& each) { return !each->gone; });
    if (waited_for || self->over()) return;
    if (self->chat_) self->chat_->cancel();
    self->chat_.reset();
    self->clients_.clear();
    self->pinger_.cancel();
    if (self->abandoned_) std::exchange(self->abandoned_, nullptr)();
  });
}

// Proxies cut a stream that is silent for long. Until the first of these the head is not sent, so that an early failure can still be told
// by its status.
void ChatExchange::keep_alive() {
  const auto self = shared_from_this();
  pinger_ = loop_.after(settings_.keep_alive, [self] {
    if (self->over() || !self->chat_) return;
    const std::string comment =
        ": margin waiting " + std::to_string(self->chat_->answers()) + "/" + std::to_string(self->chat_->asked()) + "\n\n";
    for (const auto& client : self->clients_) {
      if (!client->stream || client->gone) continue;
      if (!client->out.open()) {
        client->out = client->answer->stream(stream_head());
        client->out.on_disconnect([self, client] { self->leave(*client); });
      }
      if (!client->out.write(comment)) self->leave(*client);
    }
    self->keep_alive();
  });
}

void ChatExchange::tell(Client& client, std::chrono::nanoseconds waited) {
  if (client.gone) return;
  client.answer->waited_for_models(waited);
  if (refusal_) {
    if (!client.out.open()) return client.answer->send(http::Response(*refusal_));
    client.out.write(render_error_frame(refusal_->body));
    return client.out.close();
  }
  if (!client.stream) return client.answer->json(render_chat(*finished_));
  if (!client.out.open()) client.out = client.answer->stream(stream_head());
  client.out.write(render_chat_stream(*finished_, client.include_usage));
  client.out.close();
}

void ChatExchange::succeed(FinishedChat chat) {
  const std::chrono::nanoseconds waited = chat.heard.waited;
  finished_ = std::make_shared<const FinishedChat>(std::move(chat));
  pinger_.cancel();
  grace_.cancel();
  chat_.reset();
  abandoned_ = nullptr;
  for (const auto& client : std::exchange(clients_, {})) tell(*client, waited);
}

void ChatExchange::fail(http::Response refusal, std::chrono::nanoseconds waited) {
  refusal_ = std::move(refusal);
  pinger_.cancel();
  grace_.cancel();
  chat_.reset();
  abandoned_ = nullptr;
  for (const auto& client : std::exchange(clients_, {})) tell(*client, waited);
}

std::size_t ChatExchange::bytes() const {
  if (!finished_) return 0;
  std::size_t bytes = 0;
  for (const gateway::Candidate& candidate : finished_->heard.candidates) {
    bytes += candidate.reply.size() + candidate.reading.shown.size() + candidate.reading.answer.size();
  }
  return bytes;
}

ChatDesk::Found ChatDesk::find(const std::string& pool, const RequestMark& mark) const {
  const auto found = entries_.find(key_of(pool, mark));
  if (found == entries_.end()) return {};
  if (found->second.body != mark.body) return {.exchange = nullptr, .other_body = true};
  return {.exchange = found->second.exchange};
}

void ChatDesk::add(const std::string& pool, const RequestMark& mark, std::shared_ptr<ChatExchange> exchange) {
  Key key = key_of(pool, mark);
  entries_[key] = {mark.body, std::move(exchange)};
  order_.push_back(std::move(key));
  make_room();
}

void ChatDesk::forget(const std::string& pool, const RequestMark& mark) {
  const Key key = key_of(pool, mark);
  if (entries_.erase(key) > 0) std::erase(order_, key);
}

void ChatDesk::forget(Uuid decision) {
  std::erase_if(order_, [&](const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.exchange->id() != decision || !found->second.exchange->over()) return false;
    entries_.erase(found);
    return true;
  });
}

void ChatDesk::make_room() {
  const auto bytes = [this] {
    std::size_t sum = 0;
    for (const auto& [key, entry] : entries_) sum += entry.exchange->bytes();
    return sum;
  };
  // Counting all of them is cheap beside asking a model, and needed only now and then.
  const bool count_bytes = order_.size() % 64 == 0;
  while (order_.size() > kExchangesMax || (count_bytes && order_.size() > 1 && bytes() > kBytesMax)) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
}

}  // namespace margin::server
