"""What everything else stands on, and what knows nothing of programs.

- `files`: write files whole or not at all; lock a folder.
- `jit`: compile functions, with a cache on disk.
- `parallel`: split a batch among threads.
- `randomness`: random numbers in compiled code, a stream per world.
- `tensors`: read and write files of tensors with what they are about.
- `settings`: change a configuration by text.
- `user_code`: import tasks and methods from a user's file.
- `memory`: keep freed memory in the process.
"""
