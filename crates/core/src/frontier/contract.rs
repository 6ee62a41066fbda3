//! The contract of the frontier as a property test: against lists that are read from end to end.
