#include "kernel/event_handler.hpp"

#include "base/error.hpp"

namespace cxloom {

void EventHandler::receive(Message& /*message*/) {
  throw InternalError("a message for something that takes none");
}

void EventHandler::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  throw InternalError("a wake-up for something that asked for none");
}

void EventHandler::settle() { throw InternalError("the end of an instant for something that did not ask"); }

}  // namespace cxloom
