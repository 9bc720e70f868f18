"""Language models that do not fit into their GPU: where weights, caches and optimizer states go, and what that costs.

`catalogue` has models by their names, `shapes` counts their parameters and bytes. `cost_model` is FlexGen's, `plan`
solves it for a batch and `search` looks for the best one; `loop` is what its program does instead, and `difference`
explains one by the other. `zero` is a step of training with ZeRO-Offload. `task_graph` has both as tasks with
dependences. All of these are closed forms, at rates that are given. `target` is a system to play the tasks on,
`section` their spec, and `simulated` holds the simulation against the plan.
"""
