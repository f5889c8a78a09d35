//! The fuzzer of [`knee_fuzz::scenario`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| knee_fuzz::scenario(input));
