// The requesters that the outside gives their accesses, and the way by which it does.
#pragma once

#include <map>
#include <string>

#include "protocol/request_observer.hpp"
#include "workload/stream/external_feed.hpp"

namespace cxloom {

class Kernel;
class Requester;
class System;
class TransferEngine;

class DrivenRequesters {
 public:
  DrivenRequesters(Kernel& kernel, RequestObserver& observer) : kernel_(kernel), observer_(observer) {}

  bool empty() const { return driven_.empty(); }
  /// From now on the outside gives this one accesses, which moves blocks by `engine` if there is one. Throws
  /// InputError if it has work already.
  ExternalFeed& drive(const std::string& device, Requester& requester, const TransferEngine* engine);
  /// Gives it one, now. Throws InputError, with everything as it was, for an access that nobody can serve.
  void inject(const std::string& device, const Access& access, ExternalFeed::Answered answered);
  /// Gives it a block to move, now. Throws InputError, with everything as it was, for one that it cannot
  /// move.
  void transfer(const System& system, const std::string& device, const BlockOrder& order,
                FedBlock::Moved moved);
  /// No more will come, but for those of answers to others.
  void close();

 private:
  struct Driven {
    Requester* requester = nullptr;
    ExternalFeed* feed = nullptr;
    const TransferEngine* engine = nullptr;
  };
  Driven& driven(const std::string& device);

  Kernel& kernel_;
  RequestObserver& observer_;
  std::map<std::string, Driven> driven_;
};

}  // namespace cxloom
