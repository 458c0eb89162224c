"""The language of programs: grammar, text form, interpreter, compiler and edits."""
