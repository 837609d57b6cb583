"""The base of all errors that a user can cause."""


class UserError(ValueError):
    """Says what was got, what is allowed and what to do; a command prints it and exits."""

    exit_code = 2
