"""Karel: a world of cells, walls and markers, and the paper's tasks in it.

In reading order:

- `world`: states, the language, text pictures.
- `physics`: actions and perceptions, defined once for interpreter and executor.
- `interpreter`: run a program in plain Python. `executor`: run many programs in many worlds, compiled.
- `tasks/`: the tasks, one file each.
- `simulation`, `observe`: many worlds that step together, and their observations for a network.
- `env`, `registration`: the tasks as Gymnasium environments.
- `dataset`: random programs and their rollouts, the training data of a program space.
- `conformance`: recorded runs of other implementations.
- `replay`, `studio`: recorded rollouts, drawn worlds and first programs for the studio.
- `extras`: features of the domain that only Karel has.
- `draw/`: pictures, GIFs.
"""
