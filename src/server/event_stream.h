// EventStream: what happens in pools, live, as server-sent events. A client that does not read is disconnected by the listener's limits.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>

#include "http/server.h"
#include "margin/event.h"
#include "margin/pool.h"
#include "server/caller.h"
#include "service/service.h"

namespace margin::server {

class EventStream {
 public:
  struct Wanted {
    Caller caller;
    std::string pool;  // as stored; empty: all of the caller's
  };
  void add(http::Stream stream, Wanted wanted);
  // `decision`: of the feedback that a revert takes back, where that is known.
  void publish(const service::Service::Happened& happened, std::optional<Uuid> decision);
  // A comment line, so that proxies keep the connection and the client sees that it lives.
  void keep_alive();
  void close();
  // Closes those whose caller may no longer listen.
  void close_unless(const std::function<bool(const Caller&)>& may_listen);
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

 private:
  struct Client {
    http::Stream stream;
    Wanted wanted;
  };
  std::list<Client> clients_;
};

}  // namespace margin::server
