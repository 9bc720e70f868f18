// Searches a random graph breadth first, from several nodes.
//
//   graph [NODES [EDGES [SEARCHES [SEED]]]]
//
// Both ends of an edge are drawn so that few nodes have many edges and most have few. The graph is kept as
// lists of neighbours, one behind the other. Checks that the distances of neighbours differ by one at most.
#include <cxloom/roi.h>

#include "program.h"

static const uint32_t kFar = UINT32_MAX;

typedef struct {
  uint64_t nodes;
  uint64_t* first;       // place in `neighbours` of a node's first one, and of the end behind the last node
  uint32_t* neighbours;  // of all nodes
} Graph;

static uint32_t drawn(uint64_t* state, uint64_t nodes) {
  const double unit = random_unit(state);
  return (uint32_t)(unit * unit * (double)nodes);
}

static Graph made(uint64_t nodes, uint64_t edges, uint64_t* state) {
  Graph graph = {nodes, allocated(nodes + 2, sizeof(uint64_t)), allocated(2 * edges, sizeof(uint32_t))};
  uint32_t* ends = allocated(2 * edges, sizeof(uint32_t));
  for (uint64_t i = 0; i < 2 * edges; ++i) ++graph.first[2 + (ends[i] = drawn(state, nodes))];
  for (uint64_t n = 2; n < nodes + 2; ++n) graph.first[n] += graph.first[n - 1];
  for (uint64_t i = 0; i < 2 * edges; ++i) graph.neighbours[graph.first[1 + ends[i]]++] = ends[i ^ 1];
  free(ends);
  return graph;
}

// Gives how many nodes it reaches.
static uint64_t search(const Graph* graph, uint32_t from, uint32_t* distance, uint32_t* queue) {
  for (uint64_t n = 0; n < graph->nodes; ++n) distance[n] = kFar;
  uint64_t head = 0, tail = 0;
  distance[from] = 0;
  queue[tail++] = from;
  while (head < tail) {
    const uint32_t at = queue[head++];
    for (uint64_t i = graph->first[at]; i < graph->first[at + 1]; ++i) {
      const uint32_t next = graph->neighbours[i];
      if (distance[next] != kFar) continue;
      distance[next] = distance[at] + 1;
      queue[tail++] = next;
    }
  }
  return tail;
}

int main(int argc, char** argv) {
  const uint64_t nodes = argument(argc, argv, 1, 200000), edges = argument(argc, argv, 2, 1000000);
  const uint64_t searches = argument(argc, argv, 3, 2);
  uint64_t state = argument(argc, argv, 4, 1);
  const Graph graph = made(nodes, edges, &state);
  uint32_t* distance = allocated(nodes, sizeof(uint32_t));
  uint32_t* queue = allocated(nodes, sizeof(uint32_t));

  uint64_t reached = 0;
  cxloom_roi_begin();
  for (uint64_t s = 0; s < searches; ++s) reached += search(&graph, drawn(&state, nodes), distance, queue);
  cxloom_roi_end();

  int right = 1;
  for (uint64_t n = 0; n < nodes; ++n) {
    for (uint64_t i = graph.first[n]; i < graph.first[n + 1]; ++i) {
      const uint32_t one = distance[n], other = distance[graph.neighbours[i]];
      right = right && (one > other ? one - other : other - one) <= 1;
    }
  }
  return finished("graph: nodes reached", reached, right && reached >= searches);
}
