// A first-in first-out queue of messages, linked through the messages themselves.
#pragma once

#include "base/intrusive_queue.hpp"
#include "protocol/message.hpp"

namespace cxloom {

using MessageQueue = IntrusiveQueue<Message>;

}  // namespace cxloom
