// How the messages of a link end get on its wire, where that is not known as soon as they come.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class CreditLine;
class FlitMonitor;
class FlitRetries;
class VirtualChannels;

class Transmitter {
 public:
  Transmitter() = default;
  Transmitter(const Transmitter&) = delete;
  Transmitter& operator=(const Transmitter&) = delete;
  virtual ~Transmitter() = default;

  /// Messages leave in the order in which they are ready, whatever the order of the calls.
  virtual void send(Message& message, Time ready) = 0;
  /// The serialisation of a line of data on an idle wire.
  virtual Time line_time() const = 0;

  /// Where messages wait, also in the owner's queues; none if it takes only what is sent.
  virtual VirtualChannels* channels() { return nullptr; }
  /// The monitor of the flits; none on a wire without flits.
  virtual const FlitMonitor* flits() const { return nullptr; }
  /// The retries of corrupted flits; none where flits are never corrupted.
  virtual FlitRetries* retries() { return nullptr; }

  /// Connects the other side: its credits by virtual channel, and its retries; null for what it lacks.
  virtual void connect(CreditLine* /*far_credits*/, FlitRetries* /*far_retries*/) {}
  /// Its flits carry the credits back that the receiver on this side frees; otherwise these travel by
  /// themselves.
  virtual bool carries_credits() const { return false; }
  virtual void return_credit(Channel /*which*/, Time /*at*/) {}

  // For a link that may fail. When one of these is called, nothing else has happened yet at its instant.

  /// To be called before the run: the link goes down at these times, in their order.
  virtual void expect_failures(const std::vector<Time>& /*at*/) {}
  /// The link fails: what has begun to cross arrives, what has not waits.
  virtual void interrupt() { state_ = State::kDown; }
  /// The failure is known: messages that wait go back to the device, and so does each that comes.
  virtual void close() { state_ = State::kClosed; }
  /// The link works again.
  virtual void reopen() { state_ = State::kUp; }

  /// Brings the monitors up to `now`, where turns are worked off later than they happen.
  virtual void catch_up(Time /*now*/) {}
  virtual void open_window(Time /*now*/) {}
  virtual void close_window(Time /*now*/) {}

 protected:
  enum class State : std::uint8_t { kUp, kDown, kClosed };
  State state() const { return state_; }

 private:
  State state_ = State::kUp;
};

}  // namespace cxloom
