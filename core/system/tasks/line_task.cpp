#include "system/tasks/line_task.hpp"

#include <cmath>
#include <numeric>

#include "base/schema.hpp"

namespace cxloom {

namespace {

std::uint64_t lines_in(std::uint64_t bytes) { return (bytes + kLineBytes - 1) / kLineBytes; }

std::uint64_t share(std::uint64_t of, std::uint64_t part, std::uint64_t whole) {
  return static_cast<std::uint64_t>(Wide{of} * part / whole);
}

// A task that waits for an answer or for a place in the queue is on its pace.
constexpr Time kOnPace{1'000'000};

}  // namespace

LineTask::LineTask(const Task& task, const TaskObjects& objects, const LineTaskHost& host,
                   RandomStream& random, Time start)
    : task_(task), host_(host), random_(random), start_(start), copies_(task.kind == TaskKind::kCopy) {
  for (const TaskRange& range : task.ranges) {
    const PlacedObject& object = objects.at(range.object);
    // Lines begin at the line of the offset.
    const std::uint64_t offset = range.offset / kLineBytes * kLineBytes;
    parts_.push_back({&object, offset, lines_in(range.offset - offset + range.bytes),
                      lines_in(object.size() - offset), range.writes});
  }
  for (std::uint32_t number = 0; number < task.threads; ++number) {
    Thread& thread = threads_.emplace_back();
    for (const Part& part : parts_) {
      thread.first.push_back(share(part.lines, number, task.threads));
      thread.lines.push_back(share(part.lines, number + 1, task.threads) - thread.first.back());
      thread.total += thread.lines.back();
    }
    if (copies_) thread.total = thread.lines.front();
    thread.done.assign(parts_.size(), 0);
    if (thread.total == 0) ++threads_made_;
  }
}

std::uint64_t LineTask::accesses_left() const {
  std::uint64_t left = 0;
  for (const Thread& thread : threads_) left += thread.total - thread.made;
  return left;
}

bool LineTask::made(std::uint32_t thread) const {
  return threads_[thread].made == threads_[thread].total && threads_[thread].read.empty();
}

// Evenly over the time that the cores take at least.
Time LineTask::due(std::uint32_t number) const {
  const Thread& thread = threads_[number];
  if (task_.least == Time{} || host_.cycles_per_ps > 0) return {};
  return start_ + take(thread, thread.made) - thread.skipped;
}

Time LineTask::take(const Thread& thread, std::uint64_t lines) const {
  return Time{static_cast<std::int64_t>(static_cast<Wide>(task_.least.ps()) * lines / thread.total)};
}

// Without cores there is one thread.
Time LineTask::behind() const {
  const Thread& thread = threads_.front();
  if (task_.least == Time{} || host_.cycles_per_ps > 0 || thread.total == 0) return {};
  const Time late = progress_.at - due(0);
  return late > kOnPace + take(thread, 1) ? late : Time{};
}

Time LineTask::steady_for(double rate) const {
  const Time late = behind();
  if (late == Time{}) return Time::max();
  const double ahead =
      rate * static_cast<double>(task_.least.ps()) / static_cast<double>(threads_.front().total) - 1;
  const double time = static_cast<double>(late.ps()) / ahead;
  return ahead <= 0 || time >= static_cast<double>(kLongestTime.ps()) ? Time::max()
                                                                      : Time{static_cast<std::int64_t>(time)};
}

void LineTask::pace(const Thread& thread, Access& access) const {
  if (host_.cycles_per_ps == 0) return;
  const double cycles = static_cast<double>(task_.least.ps()) * host_.cycles_per_ps;
  const auto up_to = [&](std::uint64_t made) {
    return std::floor(cycles * static_cast<double>(made) / static_cast<double>(thread.total));
  };
  access.cycles = static_cast<std::uint32_t>(up_to(thread.made + 1) - up_to(thread.made));
}

// All parts make equal progress: the one that is behind most.
std::size_t LineTask::next_part(const Thread& thread) const {
  std::size_t most = 0;
  bool found = false;
  Wide behind = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (thread.done[i] == thread.lines[i]) continue;
    const Wide wanted = Wide{thread.lines[i]} * (thread.made + 1);
    const Wide has = Wide{thread.done[i]} * thread.total;
    const Wide each = wanted > has ? wanted - has : 0;
    if (found && each <= behind) continue;
    found = true;
    behind = each;
    most = i;
  }
  return most;
}

Address LineTask::address(const Part& part, std::uint64_t line) const {
  return part.object->place(part.offset + line % part.room * kLineBytes).at;
}

void LineTask::next(std::uint32_t number, std::uint64_t record, Access& access) {
  Thread& thread = threads_[number];
  access = {};
  access.size = kLineBytes;
  if (copies_) {
    const bool writes = thread.made == thread.total || thread.read.size() > host_.lag;
    const std::uint64_t line = writes ? thread.read.front().second : thread.first[0] + thread.made;
    access.kind = writes ? AccessKind::kWrite : AccessKind::kRead;
    access.address = address(parts_[writes ? 1 : 0], line);
    if (writes) {
      access.dependence = static_cast<std::uint32_t>(record - thread.read.front().first);
      thread.read.pop_front();
    } else {
      thread.read.emplace_back(record, line);
      ++thread.made;
    }
    counted_ = writes;
  } else {
    pace(thread, access);
    const std::size_t chosen = next_part(thread);
    const Part& part = parts_[chosen];
    const std::uint64_t line =
        task_.random ? random_.below(part.lines) : thread.first[chosen] + thread.done[chosen];
    access.kind = part.writes ? AccessKind::kWrite : AccessKind::kRead;
    access.address = address(part, line);
    ++thread.done[chosen];
    ++thread.made;
    counted_ = true;
  }
  ++unanswered_;
  note_made(thread);
}

void LineTask::note_made(const Thread& thread) {
  if (thread.made == thread.total && thread.read.empty()) ++threads_made_;
}

void LineTask::answered(bool counts, Time now) {
  --unanswered_;
  if (!counts) return;
  progress_.step(1, now);
}

// Counts the accesses of a thread up to where one of its parts comes to other memory.
std::uint64_t LineTask::even_lines(const Thread& thread) const {
  std::uint64_t left = thread.total - thread.made;
  if (task_.random) return left;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const std::uint64_t done = copies_ ? thread.made : thread.done[i];
    if (done >= thread.lines[i] || part.object->even_until(part.offset) == part.object->size()) continue;
    const std::uint64_t at = (thread.first[i] + done) % part.room;
    const std::uint64_t offset = part.offset + at * kLineBytes;
    const std::uint64_t even = (part.object->even_until(offset) - offset) / kLineBytes;
    if (even >= thread.lines[i] - done) continue;
    left = std::min(left, copies_ ? even : share(even, thread.total, thread.lines[i]));
  }
  return left;
}

std::uint64_t LineTask::ahead() const {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Thread& thread : threads_) {
    if (thread.total > 0) least = std::min(least, even_lines(thread));
  }
  return least == ~std::uint64_t{0} ? 0 : least * threads_.size();
}

// Each thread by as many, as its parts are of equal size; it keeps some, so that it ends by itself.
std::uint64_t LineTask::skip(std::uint64_t lines, Time time) {
  const std::uint64_t kept = parts_.size() + 1;
  const bool late = behind() > Time{};
  std::uint64_t skipped = 0;
  for (Thread& thread : threads_) {
    const std::uint64_t most = thread.total - thread.made;
    if (most <= kept) continue;
    const std::uint64_t before = thread.made;
    const std::uint64_t to = before + std::min(most - kept, lines / threads_.size());
    if (copies_) {
      thread.made = to;
    } else {
      thread.made = 0;
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        thread.done[i] = std::max(thread.done[i], share(thread.lines[i], to, thread.total));
        thread.made += thread.done[i];
      }
    }
    thread.skipped += late ? time : take(thread, thread.made) - take(thread, before);
    skipped += thread.made - before;
  }
  return skipped;
}

std::uint64_t LineTask::line_at(const Thread& thread, std::size_t part) const {
  const std::uint64_t done = copies_ ? thread.made : thread.done[part];
  return std::min((thread.first[part] + done) % parts_[part].room, parts_[part].room - 1);
}

// Each thread goes through its own.
std::uint64_t LineTask::turn() const {
  if (task_.random) return 1;
  std::uint64_t lines = 1;
  double share_of_part = 1;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    for (const Thread& thread : threads_) {
      const std::uint64_t each =
          part.object->turn(part.offset + line_at(thread, i) * kLineBytes) / kLineBytes;
      if (each <= 1) continue;
      if (lines > ~std::uint32_t{0}) return lines;
      lines = std::lcm(lines, each);
      share_of_part =
          std::max(share_of_part, static_cast<double>(thread.total) /
                                      static_cast<double>(std::max<std::uint64_t>(thread.lines[i], 1)));
    }
  }
  if (lines == 1) return 1;
  return static_cast<std::uint64_t>(static_cast<double>(lines) * share_of_part) * threads_.size();
}

// Which nodes are used at the same time hangs on where one part is in its turn when the first is at the
// beginning of its own: that stays, as both go on alike.
std::uint64_t LineTask::phase(const Thread& thread, std::size_t part) const {
  if (parts_[part].lines != parts_[0].lines) return 0;
  const std::uint64_t done = copies_ ? thread.made : thread.done[0];
  const auto offset = [&](std::size_t i) {
    const std::uint64_t line = (thread.first[i] + done) % parts_[i].room;
    return parts_[i].offset + line * kLineBytes;
  };
  const PlacedObject& one = *parts_[0].object;
  const PlacedObject& other = *parts_[part].object;
  const std::uint64_t common = std::gcd(one.turn(offset(0)), other.turn(offset(part)));
  return (other.phase(offset(part)) % common + common - one.phase(offset(0)) % common) % common;
}

std::string LineTask::sort() const {
  std::string text = copies_ ? "copy" : task_.random ? "random" : "sequential";
  text += " on " + host_.lane + " " + std::to_string(threads_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    text += part.writes ? " w " : " r ";
    // Lines that are drawn are in all of it, and those of threads where each of them is.
    if (task_.random) {
      text += part.object->mix_of(part.offset, part.lines * kLineBytes);
    } else {
      std::string before;
      for (const Thread& thread : threads_) {
        std::string mix = part.object->mix(part.offset + line_at(thread, i) * kLineBytes);
        if (i > 0) mix += "+" + std::to_string(phase(thread, i));
        if (mix != before) text += mix;
        before = std::move(mix);
      }
    }
    text += std::to_string(part.lines * 1000 / parts_[0].lines);
  }
  if (task_.least > Time{}) {
    const double lines = static_cast<double>(threads_.front().total) * static_cast<double>(threads_.size());
    text += " paced " + std::to_string(std::llround(static_cast<double>(task_.least.ps()) / lines));
    if (behind() > Time{}) text += " and behind";
  }
  return text;
}

}  // namespace cxloom
