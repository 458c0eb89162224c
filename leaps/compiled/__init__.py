"""Compiled domains: from the rules of a world to everything that runs programs in it.

The author of a domain writes `perceive(world)` and `act(world, action)` for numba. The executor, the worlds
that step together and the record of a rollout are generated from them, so that a step is written once.

- `rules`: what a domain has to provide.
- `kernels`: the loops, written for any domain.
- `engine`: the loops of one domain, and what calls them.
- `plain`: rules for worlds of cells and numbers, from `perceive` and `act` alone.
- `task`: a whole task in such a domain, from a few plain functions.
- `starts`: initial states of such a task.
- `functions`: its functions as the executor takes them.
- `scene`: a world of such a task in plain Python, for traces and for messages with a file and a line.
- `rehearsal`: a user's task is tried out before it is run, and a run that fails is traced back.
- `draw`: worlds as text and as pictures.
- `checks`: what tasks of all compiled domains refuse.
"""
