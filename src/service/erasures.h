// Erasures: texts of decisions taken out of the log while it is served, on the side. Those asked for meanwhile share the next round, since
// each round writes the whole store anew. Used by Service, on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "log/event_log.h"
#include "margin/result.h"
#include "service/background.h"
#include "service/served_pool.h"

namespace margin::service {

class Erasures {
 public:
  using Done = std::function<void(Result<Erasure>)>;
  using Post = std::function<void(std::function<void()>)>;

  // `alive` is false once posted work must do nothing.
  Erasures(EventLog& log, Background& side, Post post, std::shared_ptr<const bool> alive)
      : log_(log), side_(side), post_(std::move(post)), alive_(std::move(alive)) {}

  // The decision was applied to the pool. `note` says who asked, for the audit.
  void add(ServedPool& pool, Uuid decision, std::string note, Done done);

 private:
  struct Asked {
    ServedPool* pool = nullptr;
    ErasureWanted wanted;
    Done done;
  };
  using Round = std::vector<Asked>;

  void start();
  static void finish(const Round& round, const Result<std::vector<Erasure>>& erased);

  EventLog& log_;
  Background& side_;
  const Post post_;
  const std::shared_ptr<const bool> alive_;
  Round waiting_;
  bool under_way_ = false;
};

}  // namespace margin::service
