//! The page of `stickler ui`.
