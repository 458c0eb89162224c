"""Compiled domains: the executor of programs, generated from the rules of a world.

The author of a domain writes `perceive(world)` and `act(world, action)` for numba. The executor, vectorized
worlds and recorded rollouts are generated from them, so that a step is written only once.

- `rules`: the functions that a domain has to provide.
- `kernels`: the loops, written for any domain.
- `engine`: the loops compiled for one domain, and the functions that call them.
- `plain`: rules for worlds of cells and numbers, made from `perceive` and `act` alone.
- `task`: a complete task in such a domain, made from a few plain functions.
- `starts`: initial states of such a task.
- `functions`: compile the functions of such a task.
- `scene`: a world of such a task in plain Python, for traces and for messages with a file and a line.
- `rehearsal`: test a user's task before the first run, and locate the error in a failed run.
- `draw`: worlds as text and as pictures.
- `checks`: input checks for the tasks of all compiled domains.
"""
