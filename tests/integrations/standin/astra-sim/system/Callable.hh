// Of ASTRA-sim's callables what the adapter uses.
#pragma once

namespace AstraSim {

enum class EventType { CallEvents = 0, General };

class CallData {
 public:
  virtual ~CallData() = default;
};

class Callable {
 public:
  virtual ~Callable() = default;
  virtual void call(EventType type, CallData* data) = 0;
};

}  // namespace AstraSim
