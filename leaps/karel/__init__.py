"""Karel: a world of cells, walls and markers, and the paper's tasks in it.

In reading order:

- `world`: states, the language, pictures of text.
- `physics`: actions and perceptions, written once.
- `interpreter`: run a program in plain Python. `executor`: run many programs in many worlds, compiled.
- `tasks/`: a task is a file.
- `simulation`, `observe`: many worlds that step together, and what a network sees of them.
- `env`, `registration`: the tasks as Gymnasium environments.
- `dataset`: random programs and their rollouts, which a program space is learned from.
- `conformance`: recorded runs of other implementations.
- `replay`, `studio`: recorded rollouts, drawn worlds and first programs for the studio.
- `extras`: the features that only Karel has, as its domain offers them.
- `draw/`: pictures, GIFs.
"""
