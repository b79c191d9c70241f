"""Fuzzing of kinodyn: mutated files for every reader, mutated arguments for every public function.

`python -m fuzz --seconds 60` runs for a minute. Cases are numbered: the same number is the same case. They run in child
processes with limits of time and memory, so that a crash or an endless loop is a finding and not the end of the run.
"""
