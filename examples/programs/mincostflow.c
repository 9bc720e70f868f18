// The cheapest flow through a network, by successive shortest paths over arcs that are linked by pointers.
//
//   mincostflow [NODES [ARCS [FLOW [SEED]]]]
//
// It is no network simplex, but stands in for one (as that of SPEC's mcf) where only the accesses to memory
// matter, which are a chase of pointers over nodes and arcs with little to compute. Checks that no cycle of
// negative cost is left, that is, that the flow is optimal.
#include "program.h"

typedef struct Arc {
  struct Arc* next;  // of those that leave the same node
  struct Arc* back;
  struct Node* to;
  int64_t capacity, cost;
} Arc;

typedef struct Node {
  Arc* arcs;
  Arc* came_by;
  int64_t distance;
  struct Node* queued;  // the next in the queue, itself if it is the last, null if it is in none
} Node;

static void join(Node* from, Node* to, Arc* forth, Arc* back, int64_t capacity, int64_t cost) {
  *forth = (Arc){from->arcs, back, to, capacity, cost};
  from->arcs = forth;
  *back = (Arc){to->arcs, forth, from, 0, -cost};
  to->arcs = back;
}

// Cheapest ways from a source over arcs with room (Bellman, Ford, Moore: a queue). Costs may be negative,
// circles are not.
static void find_ways(Node* nodes, uint64_t count, Node* source) {
  for (uint64_t i = 0; i < count; ++i) nodes[i].distance = INT64_MAX / 4, nodes[i].queued = NULL;
  source->distance = 0;
  Node *first = source, *last = source;
  source->queued = source;
  while (first != NULL) {
    Node* node = first;
    first = node->queued == node ? NULL : node->queued;
    node->queued = NULL;
    for (Arc* arc = node->arcs; arc != NULL; arc = arc->next) {
      if (arc->capacity == 0 || node->distance + arc->cost >= arc->to->distance) continue;
      arc->to->distance = node->distance + arc->cost;
      arc->to->came_by = arc;
      if (arc->to->queued != NULL) continue;
      arc->to->queued = arc->to;
      if (first == NULL) first = arc->to;
      else last->queued = arc->to;
      last = arc->to;
    }
  }
}

int main(int argc, char** argv) {
  const uint64_t count = argument(argc, argv, 1, 20000), arcs = argument(argc, argv, 2, 100000);
  const uint64_t wanted = argument(argc, argv, 3, 40);
  uint64_t state = argument(argc, argv, 4, 1);
  Node* nodes = allocated(count, sizeof(Node));
  Arc* memory = allocated(2 * (arcs + count), sizeof(Arc));
  for (uint64_t i = 0; i < arcs; ++i)
    join(&nodes[random_below(&state, count)], &nodes[random_below(&state, count)], &memory[2 * i],
         &memory[2 * i + 1], 1 + (int64_t)random_below(&state, 4), 1 + (int64_t)random_below(&state, 1000));
  for (uint64_t i = 0; i < count; ++i)  // a dear way round, which always has room
    join(&nodes[i], &nodes[(i + 1) % count], &memory[2 * (arcs + i)], &memory[2 * (arcs + i) + 1],
         (int64_t)wanted + 1, 100000);
  Node *source = &nodes[0], *sink = &nodes[count / 2];
  int64_t total = 0;
  for (uint64_t flow = 0; flow < wanted; ++flow) {
    find_ways(nodes, count, source);
    for (Node* node = sink; node != source; node = node->came_by->back->to) {
      --node->came_by->capacity;
      ++node->came_by->back->capacity;
    }
    total += sink->distance;
  }
  // Optimal if and only if there are potentials under which no arc with room is cheaper than the step it
  // takes.
  find_ways(nodes, count, source);
  uint64_t cheaper = 0;
  for (uint64_t i = 0; i < 2 * (arcs + count); ++i) {
    const Arc* arc = &memory[i];
    const Node* from = arc->back->to;
    cheaper += arc->capacity > 0 && from->distance + arc->cost < arc->to->distance;
  }
  return finished("mincostflow: cost of the flow", (uint64_t)total, cheaper == 0 && total > 0);
}
