"""Exceptions: one hierarchy, and what Python users catch anyway."""


class TaskscoutError(Exception):
    """Everything that taskscout raises of its own."""


class InputError(TaskscoutError, ValueError):
    """Bad input: a shape, a name, a value or a setting that does not fit. Says where, and what to do."""


class OperationError(TaskscoutError, RuntimeError):
    """Something that could not be done, such as a store that cannot be written."""
