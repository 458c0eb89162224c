"""Helpers for all other packages. None of them knows about programs.

- `files`: write files whole or not at all; lock a folder.
- `jit`: compile functions, with a cache on disk.
- `parallel`: split a batch among threads.
- `randomness`: random numbers in compiled code, a stream per world.
- `seeds`: disjoint ranges of seeds for searches, checks and held-out worlds.
- `splits`: split a data set into training, validation and test programs.
- `checkpoint`: read, write and validate the checkpoints of trainings.
- `tensors`: read and write files of tensors with metadata.
- `settings`: change a configuration by text.
- `user_code`: import tasks and methods from a user's file.
- `memory`: keep freed memory in the process.
"""
