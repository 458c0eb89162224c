"""What can be said: the language of programs, made from a domain's actions and perceptions."""
