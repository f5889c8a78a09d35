//! The fuzzer of [`knee_fuzz::vectors`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| knee_fuzz::vectors(input));
