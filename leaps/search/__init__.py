"""From a task to a program: searches that ask for candidates and are told how good they were."""
