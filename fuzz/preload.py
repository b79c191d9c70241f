"""Imports kinodyn and makes the samples, once, in the process from which all children are forked."""

from fuzz import targets as targets
from fuzz.samples import samples

samples()
